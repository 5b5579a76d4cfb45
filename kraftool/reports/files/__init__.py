"""What one file says, and what the files of one directory say together, as values."""
