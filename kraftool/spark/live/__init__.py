"""Live fleet state: what streams follow, and what `kraftool pipeline stream` does with it."""
