"""Data directories of whole fleets, made from what real controllers wrote."""
