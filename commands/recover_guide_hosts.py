"""The hosts of a plan's directories, and the commands that bring the plan to another host.

Owns the shell commands that the guide shows and never runs: they change other hosts. What comes
back is a collect file, which is compared with the plan.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.applied import not_as_planned
from kraftool.repair.collected_logs import kept_by_directories
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import SHORT_ID, HostPlan, HostRole, Plan
from kraftool.repair.planner import ReadQuorum
from kraftool.repair.ranking import host_names

_FILES = "meta.properties __cluster_metadata-0"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPlace:
    """A host of the plan, and where its directory is."""

    host: HostPlan
    is_here: bool = False
    ssh: str = ""
    """The host as ssh knows it; empty if the directory is here, or only its collect file is."""
    sudo: bool = False
    """True if it was collected with --sudo."""

    @property
    def name(self) -> str:
        return self.host.name

    @property
    def as_root(self) -> str:
        """Return what a command begins with there."""
        return "sudo " if self.sudo else ""

    @property
    def directory(self) -> str:
        """The data directory, as a shell has it."""
        is_path = os.path.isabs(self.host.path)  # and not the name of a file in an archive
        return shlex.quote(self.host.path) if is_path else "DATA_DIRECTORY"


def places_of(
    plan: Plan, over_ssh: Mapping[str, str], carried: Iterable[str], *, sudo: bool = False
) -> dict[str, HostPlace]:
    """Each host of the plan. `over_ssh` has the ssh host of each collect file, and `carried` are
    the collect files of hosts that the guide does not reach."""
    remote = {path: host for path, host in over_ssh.items() if os.path.exists(path)}
    remote |= {path: "" for path in carried if collect_file.is_collect_file(path)}
    known = [
        (survey.path, survey.identity, host)
        for path, host in remote.items()
        for survey in collect_file.read(path).surveys
    ]
    places = {}
    for host in plan.hosts:
        ssh_hosts = [ssh for path, who, ssh in known if (path, who) == (host.path, host.identity)]
        is_here = not ssh_hosts and bool(host.path) and os.path.isdir(host.path)
        ssh = ssh_hosts[0] if ssh_hosts else ""
        places[host.name] = HostPlace(host=host, is_here=is_here, ssh=ssh, sudo=sudo and bool(ssh))
    return places


def _collected(paths: Iterable[str]) -> ReadQuorum:
    files = [path for path in paths if os.path.exists(path) and collect_file.is_collect_file(path)]
    return ReadQuorum.of([one for path in files for one in collect_file.read(path).directories()])


def needs_copies(paths: Iterable[str]) -> bool:
    """True if a log in these collect files is damaged, and the other logs have what it lacks."""
    collected = _collected(paths)
    return bool(kept_by_directories(collected.surveys, collected.restored))


def collected_places(hosts: Mapping[str, str], *, sudo: bool) -> list[HostPlace]:
    """The directories of collect files, each by the file with the ssh host, before a plan names
    them."""
    surveys = _collected(hosts).surveys
    places = []
    for name, survey in zip(host_names(surveys), surveys, strict=True):
        host = HostPlan(
            name=name, role=HostRole.OBSERVER, identity=survey.identity, path=survey.path
        )
        ssh = hosts[survey.collect_file]
        places.append(HostPlace(host=host, ssh=ssh, sudo=sudo and bool(ssh)))
    return places


def copy_commands(place: HostPlace, folder: str) -> list[str]:
    """The commands that copy a directory to a folder here, over ssh or by hand."""
    here = shlex.quote(folder)
    make = f"mkdir -p {here}"
    if place.ssh:
        there = shlex.quote(f"{place.as_root}tar -C {place.directory} -czf - {_FILES}")
        return [make, f"ssh {shlex.quote(place.ssh)} {there} | tar -C {here} -xzf -"]
    archive = f"{place.name}-data.tar.gz"
    return [
        f"tar -C {place.directory} -czf {archive} {_FILES}    # on the host of {place.name}",
        f"{make} && tar -C {here} -xzf {archive}    # here",
    ]


def apply_commands(
    place: HostPlace, plan: Plan, file: str, sources: Mapping[str, str], back: str
) -> list[str]:
    """The commands that carry the plan to another host, and apply it there. `sources` has the
    folder here of each directory that apply reads; `back` is the collect file to bring back."""
    plan_there = f"kraftool-plan-{plan.id[:SHORT_ID]}.yaml"
    options = "".join(
        f" --source {source}={source}-data" for source in sorted(sources_needed(plan, place.host))
    )
    apply = f"{place.as_root}kraftool recover apply {plan_there} --dir {place.directory}{options}"
    commands = []
    if place.ssh:
        host = shlex.quote(place.ssh)
        # scp requires sftp there; this requires nothing.
        commands.append(f"ssh {host} {shlex.quote(f'cat > {plan_there}')} < {shlex.quote(file)}")
        for name, folder in sorted(sources.items()):
            unpack = shlex.quote(f"mkdir -p {name}-data && tar -C {name}-data -xzf -")
            here = shlex.quote(folder)
            commands.append(f"tar -C {here} -czf - {_FILES} | ssh {host} {unpack}")
        commands.append(f"ssh -t {host} {shlex.quote(apply)}")
        return commands
    where = f"    # on the host of {place.name}"
    name = os.path.basename(back)
    return [
        f"cp {shlex.quote(file)} {plan_there}    # and carry it to the host of {place.name}",
        *(
            f"mkdir -p {name}-data && tar -C {name}-data -xzf {name}-data.tar.gz{where}"
            for name in sorted(sources)
        ),
        f"{apply}{where}",
        f"kraftool recover collect {place.directory} --out {name}{where}",
        f"mv {name} {shlex.quote(back)}    # here, once {name} was carried back",
    ]


def check_back(place: HostPlace, file: str) -> Sequence[str]:
    """Sentences about what came back and is not as planned. Empty if the plan is applied there."""
    if not os.path.exists(file):
        return [f"{file} is not there"]
    try:
        surveys = collect_file.read(file).surveys
    except KraftoolError as error:
        return [error.message]
    # The plan may change the ids in meta.properties; the path and one directory remain.
    mine = [survey for survey in surveys if survey.path == place.host.path]
    if not mine:
        return [f"{file} has no directory {place.host.path}"]
    return list(not_as_planned(place.host, mine[0]))
