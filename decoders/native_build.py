"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "72ce4666a1480c18"
