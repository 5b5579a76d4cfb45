"""The KRaft protocol as a pure state machine: events in, effects out."""
