"""A whole fleet of data directories at once: what `pipeline audit` says, and how it is told."""
