"""The findings of backups. `kraftool/backup/` decides when they apply."""

from __future__ import annotations

from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import Area

_kind = Area("KT-BAK").kind
_ERROR, _WARNING, _INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

MANIFEST = _kind(
    "MANIFEST",
    _ERROR,
    "The manifest of a backup cannot be read. Nothing says what its files are.",
    "use another backup. kraftool verify-snapshot checks the checkpoint in the same folder",
    undecoded=True,
    stake=Stake.LOST_DATA,
)
CHECKPOINT = _kind(
    "CHECKPOINT",
    _ERROR,
    "The checkpoint of a backup is missing, or its bytes are not those that were written.",
    "use another backup, and create a new one",
    stake=Stake.LOST_DATA,
)
STATE = _kind(
    "STATE",
    _ERROR,
    "The checkpoint of a backup does not have the state that its manifest names.",
    "use another backup, and create a new one",
    stake=Stake.LOST_DATA,
)
ENCRYPTED = _kind(
    "ENCRYPTED",
    _WARNING,
    "The bytes of an encrypted backup are those that were written. Its state was not read, because"
    " no identity that decrypts it was given.",
    "set KRAFTOOL_AGE_IDENTITY to the file of the identity",
    undecoded=True,
)
UNFINISHED = _kind(
    "UNFINISHED",
    _INFO,
    "A backup has no manifest: kraftool was stopped while it wrote the backup, or still writes it.",
    "no action is needed: kraftool backup prune removes it a day later",
)
NONE = _kind(
    "NONE",
    _ERROR,
    "No backup is there.",
    "name the folder or URL that kraftool backup create was given",
    undecoded=True,
)
