"""Backups at URLs: every command with a STORE, and reading commands with STORE/NAME as PATH."""
