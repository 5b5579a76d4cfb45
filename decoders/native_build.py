"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "a3f7e145ce1fab12"
