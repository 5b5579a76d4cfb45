"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "2dbad61f0ac20f31"
