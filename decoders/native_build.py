"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "e64dea8106bf52a1"
