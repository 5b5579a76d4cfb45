"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "872236f5c828732f"
