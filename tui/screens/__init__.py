"""The views of the dashboard, a file each."""
