"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "57faba38b3923f86"
