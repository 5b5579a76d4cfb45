"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "c286bf92411e6278"
