"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "e48d95a97e7a26a0"
