"""Findings: their form, their catalogue, and how a verdict is marked."""
