"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "336a0be8191cdde4"
