"""Bytes to values and back: every format that KRaft keeps on disk or sends.

Nothing below this package opens a file or knows a user interface.

From the catalogue (`schema/`). `tools/catalogue.py` reads the JSON definitions inside released jars
and writes `metadata_records.py`, `data_messages.py` and `rpc_messages.py`: one line a field
(`notation.py` has the grammar). Facts only, sorted by name, so `git diff` between two Kafka
versions is the diff of facts. A new record type or version is one new entry. From it come:

- `codec.py` with `generate*.py`: a decode and an encode function per message and version, generated
  as source and compiled on first use. A function moves its position only past what it read whole,
  so on failure the failing line and the position give field path and place, and the fast path does
  no bookkeeping. A third function decodes straight to Kafka's JSON form.
- `spec.py`: the same messages as `construct` structures: the reference, and what `explain` uses to
  name every byte. Written from the catalogue alone, so that it can disagree with the codec;
  property tests hold both equal on values, on mutated bytes, and in where and why they fail.

Kafka's own classes are the final authority: `tests/interop/java/Messages.java` writes every message
and version with random values, and ours must read them and write the same bytes and JSON.

From bytes to a dump. `segment.py` finds batches in bounded chunks. `walk.py` judges them for every
command: sound batches, a `Fault` for all else, and whether Kafka cuts there. Observers share a
pass. `batch.py` reads records; `log_record.decode_batch` decodes them; `reports/logs/dump.py`
selects; `reports/logs/text.py` writes Kafka's text, JSON lines and CSV; `reports/logs/parallel.py`
spreads a large file over processes at batch borders. `commands/log_table.py` is the view for
people.

A problem at a place is a `Fault` (`decoders/errors.py`) wherever it is reported: in a finding, as
an entry of dump-log, as a row of Spark. One of a log is a `LogFault`, which knows its kind and
whether Kafka cuts there. Damage never raises. A batch with a wrong CRC is evidence of nothing; it
is shown if what follows confirms its length. Otherwise reading continues at the next header whose
CRC is right. Undecoded bytes of records that may carry secrets are not shown: see
`decoders/redact.py`.


"""
