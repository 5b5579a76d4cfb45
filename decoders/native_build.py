"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "683bc74651fbd943"
