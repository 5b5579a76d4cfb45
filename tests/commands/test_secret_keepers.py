"""Which test plants secrets before a command and looks for them in what it shows."""

from __future__ import annotations

from pathlib import Path

from kraftool.commands.command_table import SUBCOMMANDS, commands_below

TESTS = Path(__file__).resolve().parents[1]
SHOWN_BY = {
    "commands/test_secrets.py": {
        "diff-state",
        "diff-voters",
        "doctor",
        "dump",
        "dump-log",
        "explain",
        "features",
        "shell",
        "simulate-election",
        "state",
        "timeline",
        "verify-log",
        "verify-snapshot",
    },
    "spark/test_pipeline_secrets.py": {"pipeline audit", "pipeline stream", "pipeline tables"},
    "commands/test_recover_plan.py": {"recover collect", "recover plan"},
    "commands/test_recover_guide.py": {"recover guide"},
    "commands/test_recover_apply.py": {"recover apply", "recover undo", "recover verify"},
    "commands/test_recover_rehearse.py": {"recover rehearse"},
    "commands/test_backup_secrets.py": {
        "backup create",
        "backup info",
        "backup list",
        "backup prune",
        "backup verify",
    },
    "interop/test_bundle.py": {"bundle"},
    "interop/test_backup_restore.py": {"backup restore", "backup unpack"},
    "commands/test_storage.py": {"format", "storage format", "storage info"},
    "commands/test_node_standalone.py": {"node standalone"},
    "interop/test_node_secured.py": {"node run"},
    "tui/test_watch_secrets.py": {"watch"},
    "interop/test_net_secured.py": {
        "exporter",
        "quorum add-controller",
        "quorum describe",
        "quorum endpoints",
        "quorum health",
        "quorum may-stop",
        "quorum ready",
        "quorum remove-controller",
        "quorum renew-registration",
        "quorum unregister-controller",
        "quorum upgrade",
    },
}
HAVE_NONE = {
    "demo",
    "storage feature-dependencies",
    "storage random-uuid",
    "storage version-mapping",
}
"""They read nothing of a user's."""


def test_every_command_has_one() -> None:
    """Who adds a command adds it above."""
    listed = {name for name in commands_below(()) if name not in SUBCOMMANDS}
    listed |= {f"{group} {name}" for group, below in SUBCOMMANDS.items() for name in below}
    assert listed == set().union(HAVE_NONE, *SHOWN_BY.values())
