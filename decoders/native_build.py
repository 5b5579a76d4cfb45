"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "cf18340662c2c2c5"
