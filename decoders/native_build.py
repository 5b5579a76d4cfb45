"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "850803fbbcb228b3"
