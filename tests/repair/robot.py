"""A robot that follows what recover prints, literally, over a generated incident.

Owns what "literally" means: a command as it was printed, with the options of the refusal that it
led to, and the steps of a plan in their order. It has no judgement: of several printed ways it
takes the first one. It stops at a final word: a plan with nothing to do, or a quorum that leads.
What a start makes of directories is `incident_truth.py`'s, or a rehearsal's on our own nodes.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kraftool.decoders.meta_properties import NODE_ID
from kraftool.repair.cases.endpoints import STATIC_VOTERS
from kraftool.repair.plan import Action, Method, Plan, PlanStep
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.repair.incident_trials import name_directory, outcomes_of
from tests.repair.incidents import Incident
from tests.support import command_server

_MOST_COMMANDS = 40
_OPTION = re.compile(r"--(?:set [a-z.0-9]+=[0-9][^\s;:…]*|accept [a-z-]+|kafka-version [0-9.]+)")
_PRINTED = re.compile(r"^\s*\$ (kraftool .*)$", re.MULTILINE)
_ALTERNATIVES = re.compile(r"[.;] |, or\b|\n")
_FILLED_IN = ("kraftool format", "kraftool quorum add-controller")
"""Commands for a new controller, which is not there: its server.properties is the reader's."""
_LOST_CONTACT = 4


class Stuck(Exception):
    """The printed steps lead nowhere."""


@dataclass(slots=True)
class Robot:
    """One walk over one incident."""

    incident: Incident
    choices: tuple[int, ...] = ()
    """Which of the printed alternatives to take at each refusal; then always the first one."""
    starts: str | None = None
    """With a text, the rehearsal that a plan prints starts nodes on copies: our own, or with
    `--kafka HOME` those of real Kafka."""
    log: list[str] = field(default_factory=list)
    alternatives: list[int] = field(default_factory=list)
    """How many alternatives each refusal printed."""
    _seen: set[tuple[str, str]] = field(default_factory=set)
    rehearsals: int = 0
    """How many plans were rehearsed."""
    _printed: str = ""
    """What the last plan printed."""
    _plans: int = 0

    def __str__(self) -> str:
        return f"{self.incident}\n    " + "\n    ".join(self.log)

    # --- walking ---------------------------------------------------------------------------------

    def walk(self) -> set[int] | None:
        """Follow what is printed; the committed records that the worst leader lacks, and None if
        the final word is that nothing can be done."""
        command = self._first_command()
        while True:
            plan = self._planned(command)
            if plan is None:
                return None
            self._follow(plan)
            if plan.method is Method.NONE or plan.seed or not plan.changes:
                return self._lacking(plan)

    def _first_command(self) -> str:
        """The command that the doctor prints; where it prints none, that of the runbook."""
        paths = [str(path) for path in self.incident.paths.values()]
        code, text = self.run(shlex.join(["kraftool", "doctor", *paths]))
        assert code in (0, 1, 3), text
        printed = [one for one in _PRINTED.findall(text) if "recover plan" in one]
        # The voters that are lost are the operator's to know: there is nothing to collect.
        printed = [one for one in printed if "collected/" not in one]
        return printed[0] if printed else shlex.join(["kraftool", "recover", "plan", *paths])

    def _planned(self, command: str) -> Plan | None:
        """The plan to which a command leads, by what each refusal prints."""
        self._plans += 1
        words = [word for word in shlex.split(command) if word not in ("--out", "plan.yaml")]
        while True:
            name = f"plan-{self._plans}.yaml"
            code, text = self.run(shlex.join([*words, "--out", name]))
            if code == 0:
                self._printed = text
                return plan_from_yaml((self.incident.root / name).read_bytes())
            if code not in (3, 5):
                raise Stuck(f"exit code {code}: {text}")
            ways = list(_ways(words, text))
            if not ways:
                self.log.append(f"the final word: {text.rpartition('kraftool: ')[2]}")
                return None
            number = len(self.alternatives)
            self.alternatives.append(len(ways))
            choice = self.choices[number] if number < len(self.choices) else 0
            words = ways[min(choice, len(ways) - 1)]

    def _follow(self, plan: Plan) -> None:
        seed = plan.host(plan.seed) if plan.seed else None
        # Kafka writes a directory.id that is missing, and our own node does not start without one.
        if self.starts is not None and seed is not None and seed.identity.directory_id:
            self._rehearse(self.starts)
        self._stay_mounted(plan)
        for step in plan.steps:
            if step.action is Action.CONFIGURE:
                self._configure(plan)
            for command in step.commands:
                self._do(plan, step, command)

    def _do(self, plan: Plan, step: PlanStep, command: str) -> None:
        if command.startswith(("#", *_FILLED_IN)):
            return
        if step.action is Action.APPLY:
            command += f" --yes {plan.id}"
            command += "".join(f" --accept {risk.word}" for risk in plan.risks)
        if step.action is Action.CHECK and "recover verify" in command:
            command = command.partition(" --bootstrap-controller")[0]
        code, text = self.run(command, again=True)
        if step.action is Action.CHECK:
            is_done = code in (0, 1, _LOST_CONTACT)  # a running quorum is not there
        else:
            is_done = code == 0 or (code == 1 and "is applied to" in text)  # with a warning
        if not is_done or "Do not start the node" in text:
            raise Stuck(f"{step.action}: exit code {code}: {text}")

    def _rehearse(self, options: str) -> None:
        """Run the rehearsal that the plan prints: its nodes have to elect a leader."""
        (command,) = (one for one in _PRINTED.findall(self._printed) if "recover rehearse" in one)
        sources = re.findall(r"--source (\S+)=", command)
        for source in sources:  # a copy step, which comes before apply, makes it
            command = command.replace(f"{source}={source}-data", f"{source}={self._path(source)}")
        code, text = self.run(f"{command} --seeds 1{options}")
        self.rehearsals += 1
        if code not in (0, 1) or "KT-REC-START" in text or "KT-REC-NO-LEADER" in text:
            raise Stuck(f"the rehearsal: exit code {code}: {text}")

    def _path(self, host: str) -> Path:
        return self.incident.data[int(host.removeprefix("node-"))]

    def run(self, command: str, *, again: bool = False) -> tuple[int, str]:
        """Run a printed command; its exit code and all that it prints."""
        key = (re.sub(r"plan-\d+\.yaml", "plan.yaml", command), self._state())
        if key in self._seen and not again:
            raise Stuck(f"a loop: {command}")
        self._seen.add(key)
        if len(self.log) > _MOST_COMMANDS:
            raise Stuck("no end")
        root = self.incident.root
        if command.startswith("kraftool "):
            done = command_server.run(*shlex.split(command)[1:], cwd=root)
            code, text = done.returncode, (done.stdout + done.stderr).decode()
        else:
            shell = subprocess.run(
                ["sh", "-c", command], cwd=root, capture_output=True, text=True, check=False
            )
            code, text = shell.returncode, shell.stdout + shell.stderr
        self.log.append(f"{command.replace(str(root), '.')} → {code}")
        if "Traceback" in text or code == 2:
            raise Stuck(f"cannot run: {text}")
        return code, text

    def _state(self) -> str:
        """What the directories are, so that the same command over the same is a loop."""
        digest = hashlib.sha256()
        for data in sorted(self.incident.data.values()):
            for path in sorted(data.rglob("*")):
                if path.is_file():
                    digest.update(str(path).encode() + path.read_bytes())
        for path in self.incident.paths.values():
            digest.update(path.read_bytes())
        return digest.hexdigest()

    # --- what a person does by hand --------------------------------------------------------------

    def _stay_mounted(self, plan: Plan) -> None:
        """Disks are mounted at their own paths, whichever node names them afterwards."""
        known = {str(data) for data in self.incident.data.values()}
        for host in plan.hosts:
            assert not host.edits or host.path in known, f"{host.path} is no data directory"

    def _configure(self, plan: Plan) -> None:
        """Write the settings of the plan into each server.properties."""
        for host in plan.hosts:
            for setting in host.settings:
                if setting.key == NODE_ID:
                    self._mount(int(setting.value), Path(host.path))
        static = {
            setting.value
            for host in plan.hosts
            for setting in host.settings
            if setting.key == STATIC_VOTERS
        }
        for path in self.incident.paths.values() if static else ():
            lines = [
                line
                for line in path.read_text().splitlines()
                if not line.startswith(f"{STATIC_VOTERS}=")
            ]
            lines += [f"{STATIC_VOTERS}={value}" for value in static if value]
            path.write_text("\n".join(lines) + "\n")

    def _mount(self, node: int, data: Path) -> None:
        incident = self.incident
        other = next(one for one, there in incident.data.items() if there == data)
        if other != node and node in incident.data:
            incident.data[other], incident.data[node] = incident.data[node], data
            for one in (node, other):
                name_directory(incident.paths[one], incident.data[one])

    def _lacking(self, plan: Plan) -> set[int]:
        """What the worst leader of a start by the plan's order lacks."""
        outcomes, why = outcomes_of(self.incident, plan)
        if not outcomes:
            raise Stuck(f"no node can lead: {why}")
        committed = set(self.incident.past.committed)
        return max((committed - outcome.numbers for outcome in outcomes), key=len)


def _ways(words: Sequence[str], text: str) -> Iterator[list[str]]:
    """The commands that a refusal offers, in its order: the same with other options, or its own."""
    for command in _PRINTED.findall(text):
        yield [word for word in shlex.split(command) if word not in ("--out", "plan.yaml")]
    _, _, refusal = text.rpartition("kraftool: ")
    for clause in _ALTERNATIVES.split(" ".join(refusal.split())):
        options = [option.rstrip(".,") for option in _OPTION.findall(clause)]
        changed = list(words)
        for option in options:
            changed = _with(changed, *option.split(" "))
        if options:  # also those that were taken already: that is a loop
            yield changed


def _with(words: Sequence[str], option: str, value: str) -> list[str]:
    """The command with an option, which replaces an earlier one of the same key."""
    key = value.partition("=")[0] if option == "--set" else value
    pairs = list(zip(words, [*words[1:], ""], strict=True))
    left: list[str] = []
    skip = False
    for word, following in pairs:
        if skip:
            skip = False
            continue
        if word == option and (option == "--kafka-version" or following.partition("=")[0] == key):
            skip = True
            continue
        left.append(word)
    return [*left, option, value]


# --- other printed ways --------------------------------------------------------------------------


def better_way(seed: int, root: Path, robot: Robot, lost: set[int], most: int = 6) -> str:
    """Another printed way that keeps what the first one loses; empty if there is none."""
    tried = 0
    for number, count in enumerate(robot.alternatives):
        for choice in range(1, count):
            if tried == most:
                return ""
            tried += 1
            folder = root / f"way-{number}-{choice}"
            incident = Incident.made(seed, folder, is_wide=robot.incident.is_wide)
            other = Robot(incident, choices=(*([0] * number), choice))
            try:
                kept = other.walk()
            except Stuck:
                continue
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            if kept is not None and kept < lost:
                return f"keeps {len(lost - kept)} more: {other}"
    return ""
