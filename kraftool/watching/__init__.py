"""A quorum watched over time: live nodes asked again and again, directories looked at again.

It gives frozen pictures. Whoever shows them (dashboard, text, JSON) is above.
"""
