"""The core's messages and batches as Kafka's: between values and what the catalogue encodes."""
