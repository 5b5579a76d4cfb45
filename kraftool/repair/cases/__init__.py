"""One file for each thing that can be wrong with a directory while the quorum is not lost.

A case looks at the quorum and gives what it would do, a `Mend` for each directory. It refuses to
change who votes.
"""
