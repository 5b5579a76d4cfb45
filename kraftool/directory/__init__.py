"""The content of one data directory as one value: files in, values out, and no judgement."""
