"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "d6bb57c96e9aa45d"
