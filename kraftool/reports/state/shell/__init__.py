"""The metadata image as a tree of directories and files, as kafka-metadata-shell presents it."""
