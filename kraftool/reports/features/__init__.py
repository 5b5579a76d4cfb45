"""Feature levels of a cluster: what is set, who supports what, and what a change would meet."""
