"""Bytes to values and back: every format that KRaft keeps on disk or sends.

Nothing below this package opens a file or knows a user interface.
"""
