"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "85c96e80007e9a96"
