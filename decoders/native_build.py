"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "3e2b3e95866163c7"
