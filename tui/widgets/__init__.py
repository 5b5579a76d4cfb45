"""Widgets that several views share, and those too large for their view's own file."""
