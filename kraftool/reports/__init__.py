"""Read models: what commands, the dashboard and pipelines show, as plain values.

Every module is in a room, a folder that says in one line what it owns. The rooms are layers, which
pyproject.toml has in their order.
"""
