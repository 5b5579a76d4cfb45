"""A live quorum as seen from outside: every node is asked itself, with or without a leader."""
