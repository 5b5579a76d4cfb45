"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "a51ba050b6e7b09d"
