"""Known problems: failure signatures over one or several directories, with a cure."""
