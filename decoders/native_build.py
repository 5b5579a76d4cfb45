"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "e1dcbc3fb78f5361"
