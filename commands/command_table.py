"""The commands: their sections in the help, a summary of each, and the module that has it.

Owns which commands there are. It imports none of them, so that one that runs does not wait for the
others. A command is the function of its last word in the module of all its words:
`recover plan` is `plan` in `commands/recover_plan.py`. A group (`recover`) has its help there.
"""

from __future__ import annotations

SECTIONS = {
    "Look": {
        "dump": "Show what a data directory or one of its files holds",
        "dump-log": "Show the batches and records of the metadata log",
        "state": "Show the cluster's metadata at an offset or a time",
        "shell": "Browse the cluster's metadata as a tree",
        "explain": "Explain a file byte by byte",
        "timeline": "Show what happened: elections, voters, brokers",
    },
    "Check": {
        "doctor": "Look for known failures in directories, and the cure",
        "verify-log": "Verify the metadata log of a directory",
        "verify-snapshot": "Verify snapshots",
        "diff-state": "Compare the metadata of two directories or offsets",
        "diff-voters": "Compare the voter sets that nodes and files have",
        "features": "Show feature levels, and what blocks an upgrade",
    },
    "Live": {
        "watch": "Watch a quorum in a dashboard",
        "quorum": "Ask a live quorum, and change its voters",
        "exporter": "Export live quorums as metrics for Prometheus",
    },
    "Decide": {
        "simulate-election": "Simulate the next election from nodes' disks",
    },
    "Repair": {
        "recover": "Recover a lost quorum or a damaged directory",
        "backup": "Keep backups of a cluster's metadata",
        "bundle": "Collect what explains a failure into one file",
    },
    "Make": {
        "format": "Format the directories of a node",
        "storage": "Format directories, and show how they are formatted",
        "node": "Run a node of a quorum",
        "demo": "Unpack a small quorum, to try kraftool on",
    },
    "Fleet": {
        "pipeline": "Audit, export and follow many directories with Spark",
    },
}

SUBCOMMANDS = {
    "quorum": {
        "describe": "Show the leader, the voters and their lag",
        "health": "Check if the quorum is healthy, and what to do if not",
        "may-stop": "Check if nodes may be stopped now",
        "ready": "Check if one controller takes part, for probes",
        "add-controller": "Add a controller to the voters",
        "remove-controller": "Remove a controller from the voters",
        "unregister-controller": "Remove the registration of a controller that is gone",
        "renew-registration": "Register a controller that is gone with today's levels",
        "endpoints": "Correct the addresses of a voter",
        "upgrade": "Upgrade static voters to dynamic ones",
    },
    "recover": {
        "guide": "Ask, and run the commands below in their order",
        "collect": "Collect into one file what a plan needs of a host",
        "plan": "Plan every edit on every host",
        "rehearse": "Rehearse a plan on copies of the directories",
        "apply": "Apply a plan to one data directory",
        "verify": "Verify that a plan was applied",
        "undo": "Undo a plan in one data directory",
    },
    "backup": {
        "create": "Create a backup of a leader's or a directory's metadata",
        "list": "List the backups of a cluster",
        "info": "Show what a backup has",
        "verify": "Verify that backups are what was written",
        "restore": "Restore a backup into a running cluster",
        "unpack": "Write a backup as a data directory",
        "prune": "Remove old backups",
    },
    "storage": {
        "format": "Format the directories of a node",
        "info": "Show how the directories of a node are formatted",
        "random-uuid": "Print a random cluster or directory id",
        "version-mapping": "Show the feature levels that a release starts with",
        "feature-dependencies": "Show which levels a feature level needs",
    },
    "node": {
        "run": "Run a voter or an observer of a quorum",
        "standalone": "Run the only controller of a new cluster",
    },
    "pipeline": {
        "stream": "Follow the logs of many directories as they grow",
        "audit": "Examine many directories, and write one report",
        "tables": "Write the logs of many directories as Delta tables",
    },
}

_ELSEWHERE = {
    "format": ("storage_format", "format_"),
    "storage format": ("storage_format", "format_"),
    "backup list": ("backup_list", "list_"),
}
"""A module that is named otherwise, with its function."""


def commands_below(words: tuple[str, ...]) -> dict[str, str]:
    """Return the commands below these words in the order of the help, each with its summary."""
    if words:
        return SUBCOMMANDS.get(" ".join(words), {})
    return {name: summary for section in SECTIONS.values() for name, summary in section.items()}


def place_of(words: tuple[str, ...]) -> tuple[str, str]:
    """Return the module below `commands/` that has this command, and the function's name."""
    module = "_".join(words).replace("-", "_")
    return _ELSEWHERE.get(" ".join(words)) or (module, words[-1].replace("-", "_"))


_MEANT = {
    "status": ("quorum health", "quorum describe"),
    "check": ("quorum health", "doctor"),
}
"""Words of other tools, and the commands that answer the same question."""


def near_names(word: str, below: tuple[str, ...]) -> list[str]:
    """Return the commands that somebody may mean who typed this word, at most three.

    Those that answer what other tools call by this word come first, then those that are spelled
    like it, then subcommands of that very name (`describe`),
    then those that have it as a part (`log`).
    """
    from difflib import get_close_matches

    names = [*commands_below(below)]
    near = get_close_matches(word, names, n=2, cutoff=0.7)
    if not below:
        near += [f"{group} {word}" for group, inner in SUBCOMMANDS.items() if word in inner]
    if len(word) > 2:
        near += [name for name in names if word in name or name in word]
    group = "".join(f"{name} " for name in below)
    meant = [name.removeprefix(group) for name in _MEANT.get(word, ()) if name.startswith(group)]
    return [*dict.fromkeys((*meant, *near))][:3]
