"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "c5474a9f838c0a47"
