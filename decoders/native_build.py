"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "3cb2bb49d3613f5f"
