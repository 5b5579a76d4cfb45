"""The id of the native module's sources.

Written by tools/native_id.py.
"""

BUILD_ID = "bd61ba657549f22f"
