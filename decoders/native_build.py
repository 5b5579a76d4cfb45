"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "1fd72e8cc8219f98"
