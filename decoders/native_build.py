"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "e9279e4a37277035"
