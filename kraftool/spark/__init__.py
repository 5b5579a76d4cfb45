"""Metadata logs as tables of Apache Spark, for what outgrows one machine.

Owns all that knows Spark. Spark is the engine, `kraftool.decoders` the parser. Heavy packages are
imported where they are used, so that no other command waits for them.
"""
