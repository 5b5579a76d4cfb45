"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "a308f9f00575ce26"
