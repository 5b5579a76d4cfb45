"""A metadata log, its states and its events, for somebody who walks about in them.

Owns reading on demand: what is on a screen is read, and a little around it, whatever the size of
the files. Every call is bounded, so that whoever waits for it can be called off between two.
"""
