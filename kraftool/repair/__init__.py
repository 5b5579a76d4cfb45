"""Repair of directories and quorums: what was found, a plan, and what comes of it.

Nothing is changed but by `apply` and `undo`, which do what a plan says.
"""
