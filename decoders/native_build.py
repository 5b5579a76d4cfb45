"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "4cc2f536a10a1196"
