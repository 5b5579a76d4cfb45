"""Bundles: the metadata of nodes and what else explains a failure, in one file without secrets."""
