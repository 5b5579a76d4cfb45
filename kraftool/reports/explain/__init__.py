"""Every byte of a file or record, named."""
