"""Single bits that were flipped: each is put back where it is.

Owns the edit, which changes one byte for each bit and nothing else of the file. The survey that a
plan is made of has the bits put back already (`ranking.py`), so that every other case and every
method plans with the records behind them. It refuses to judge if the bits are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import epochs_removed
from kraftool.repair.plan import Edit, FlippedFile, Piece
from kraftool.repair.quorum_assessment import QuorumAssessment
from kraftool.repair.ranking import Host
from kraftool.reports.text.words import listed

CASE = "flipped-bit"


def find(standing: QuorumAssessment, host: Host) -> Iterator[Mend]:
    for file in host.survey.flipped:
        yield Mend(
            case=CASE,
            host=host,
            text=text(host, file, "the plan restores the original bits"),
            # leader-epoch-checkpoint goes beside a changed log: Kafka makes it of the log again
            edits=(edit_of(file), *epochs_removed(host.survey)),
        )


def text(host: Host, file: FlippedFile, then: str) -> str:
    """The bits of a file, the evidence, and what the plan does with them."""
    bits = "One flipped bit explains" if len(file.bits) == 1 else "Single flipped bits explain"
    details = "; ".join(bit.describe() for bit in file.bits)
    message = f"{host.name}: {file.target.name} is damaged. {bits} that, and {then}: {details}"
    same = host.evidence.confirmed_by
    if same:
        message += f". {listed(same)} {'has' if len(same) == 1 else 'have'} the same bytes there"
    return message


def edit_of(file: FlippedFile) -> Edit:
    """The edit that puts the bits of a file back."""
    return Edit(
        target=file.target,
        before=file.before,
        after=file.after,
        pieces=tuple(split(Piece(file=file.target, end=file.before.size), file)),
        why="; ".join(bit.describe() for bit in file.bits),
        flipped=file.bits,
    )


def split(piece: Piece, file: FlippedFile) -> Iterator[Piece]:
    """The same slice with the bits put back."""
    start = piece.start
    for flipped_bit in sorted(file.bits, key=lambda bit: bit.position):
        if not start <= flipped_bit.position < piece.end:
            continue
        if flipped_bit.position > start:
            yield replace(piece, start=start, end=flipped_bit.position)
        yield Piece(data=bytes([flipped_bit.byte]))
        start = flipped_bit.position + 1
    if start < piece.end:
        yield replace(piece, start=start)
