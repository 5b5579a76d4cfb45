"""The newest release of Kafka that kraftool knows: the one that the catalogue describes.

Written by tools/catalogue.py.
"""

KAFKA = "4.4.0"
