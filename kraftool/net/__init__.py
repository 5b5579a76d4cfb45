"""Connections: frames over TCP and TLS, who is at the other end, and what both sides speak."""
