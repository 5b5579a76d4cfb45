"""The rules that look at the state alone: they apply to a live quorum, too.

The rule of fenced brokers is not among them, since a live quorum shows more of these.
"""
