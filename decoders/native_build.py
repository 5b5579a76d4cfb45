"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "7c520c58321460c4"
