"""Lets the tests of the image import `metadata.py`, which makes records for them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
