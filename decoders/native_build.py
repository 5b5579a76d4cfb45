"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "f8689740bf558f64"
