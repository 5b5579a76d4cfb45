"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "7e6068f3a0df12c3"
