"""Voter sets from several sources against each other: the report behind `kraftool diff-voters`."""
