"""What an election would come to: runs by seed, every order of a small case, what-ifs."""
