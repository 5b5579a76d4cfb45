"""The events of a cluster's metadata, in offset order, merged over its nodes' directories."""
