"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "44957dd8bd7c5907"
