"""The content of one file, and of the files of one directory together, as values."""
