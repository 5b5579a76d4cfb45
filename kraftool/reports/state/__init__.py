"""The cluster's metadata at an offset, from files: the best snapshot below it, then the log."""
