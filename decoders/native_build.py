"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "571468a3a8735940"
