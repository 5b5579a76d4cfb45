"""The findings of one file by itself, and advice that depends on the other files."""
