"""What happened to a cluster's metadata, in offset order, merged over its nodes' directories."""
