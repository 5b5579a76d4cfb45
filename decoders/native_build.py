"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "470ab0add51ac664"
