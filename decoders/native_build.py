"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "52e9f398eb9a2085"
