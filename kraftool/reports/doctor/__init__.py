"""What is known to be wrong: failure signatures over one or several directories, with a cure."""
