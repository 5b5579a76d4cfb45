"""The tables that `kraftool pipeline tables` writes: what is in them, and how they are kept."""
