"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "7199d98f35f18232"
