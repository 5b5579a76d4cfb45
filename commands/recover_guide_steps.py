"""The steps of `recover guide`: the commands that the answers lead to.

Owns the order of the commands. Each command runs in a process of its own, exactly as it is shown,
and judges for itself. The guide refuses to run anything without an answer, and runs nothing that
changes another host.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

import typer

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN
from kraftool.commands.output import Output
from kraftool.commands.recover_collect_nodes import collect_file_of
from kraftool.commands.recover_guide_hosts import (
    HostPlace,
    apply_commands,
    check_back,
    collected_places,
    copy_commands,
    needs_copies,
    places_of,
)
from kraftool.commands.recover_guide_questions import Ask, GuideQuestions, shown
from kraftool.commands.recover_guide_record import GuideRecord, now
from kraftool.commands.recover_layout import checklist, setting_rows
from kraftool.commands.recover_run import read_plan, steps_from
from kraftool.decoders.names import METADATA_FOLDER
from kraftool.repair.edits import sources_needed
from kraftool.repair.plan import Action, HostPlan, Plan

RunCommand = Callable[[Sequence[str]], int]
"""Runs kraftool with these words, and returns its exit code."""

_GOES_ON = (ExitCode.FINE, ExitCode.FINDING)
"""After these the next step is offered: a finding is what the operator reads."""
_MOST_PROBLEMS = 4
_CHANGES_NOTHING = "(changes nothing)"


def run_kraftool(words: Sequence[str]) -> int:
    """Run a command on this terminal. Ctrl-C is the command's: it says how far it came."""
    before = signal.signal(signal.SIGINT, lambda *_: None)  # a new process gets the default again
    try:
        return subprocess.run([sys.executable, "-m", "kraftool", *words], check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)


class _Stop(Exception):
    """The operator stops here."""


class Guide(GuideQuestions):
    """One run of the guide in one folder."""

    def __init__(self, to: Output, folder: str, ask: Ask, run_command: RunCommand) -> None:
        super().__init__(to, GuideRecord(folder, to.problem), ask)
        self.folder, self._run_command = folder, run_command
        self._left: list[list[str]] = []
        """The commands that were not run yet, the current one first."""
        self._left_elsewhere: dict[str, list[str]] = {}
        """After those, for each host of the plan that is not here."""

    def run(self) -> None:
        """Go through all steps. Sets the exit code of the last command that failed."""
        self._record.begin()
        self._say(f"The journal is {self._record.path('journal.md')}", QUIET)
        if self._record.resumed:
            self._say("The guide goes on where it stopped. It keeps your answers.", NAME)
        try:
            self._run_steps()
        except _Stop:
            self._write_rest("stopped")
        except (typer.Abort, KeyboardInterrupt):
            self._to.line()
            self._to.problem("interrupted; no command runs", code=ExitCode.INTERRUPTED)
            self._write_rest("interrupted")
            self._to.flush()
            raise KeyboardInterrupt from None
        else:
            self._record.note(f"- {now()} the guide reached its end")

    # --- the order ---------------------------------------------------------------------------

    def _run_steps(self) -> None:
        self._heading("Stop every controller and broker, and whatever would start them again.")
        question = "Are all of them stopped? Type yes: "
        answer = self._asked(question)  # also after a pause: somebody may have started them
        self._record.note(f"- {question.strip()} {answer}")
        if answer.lower() != "yes":
            self._say(
                "Stop them first: this guide is for a quorum that has no leader. If a majority of"
                " the controllers has one, leave it running, and use kraftool recover plan for the"
                " broken node.",
                WARN,
            )
            raise _Stop
        self._ask_what_there_is()
        self._left = self._commands_until_plan()
        self._collect_hosts()
        if self._local:
            self._offer("collect", f"Record what the directories have now {_CHANGES_NOTHING}")
        self._copy_what_plan_lacks()
        self._examine()
        self._left = [self._planning()]
        file = self._record.path("plan.yaml")
        self._offer("plan", f"Plan the recovery {_CHANGES_NOTHING}", makes=file)
        plan = read_plan(file)
        if not plan.changes:
            self._say("The plan changes no file. Follow its steps above.", NAME)
            return
        self._rehearse_and_apply(plan)
        applying = [number for number, step in enumerate(plan.steps) if step.action is Action.APPLY]
        self._say("The plan is applied. Start the nodes in the order of these steps.", GOOD)
        for host in plan.hosts:
            if host.settings:
                self._heading(host.name)
                self._to.rich(*setting_rows(host))
        steps = steps_from(plan, max(applying, default=-1) + 1)
        if steps:
            self._to.line()
            self._to.rich(*checklist(steps, file, "Next"))

    def _examine(self) -> None:
        """Offer doctor for every directory that is here: those of this host, and the copies."""
        here = [*self._local, *self._copies]
        was_passed = "plan" in self._record.done and "doctor" not in self._record.done
        if here and not was_passed:
            self._left = [["doctor", *here], self._planning()]
            words = f"Look for known failures {_CHANGES_NOTHING}"
            # Damage, which is what the guide is for, makes doctor exit with 3.
            self._offer("doctor", words, goes_on=(*_GOES_ON, ExitCode.UNREADABLE))

    def _rehearse_and_apply(self, plan: Plan) -> None:
        file = self._record.path("plan.yaml")
        carried = [path for path in self._given if path not in self._local]
        over_ssh = {path: host for host, path in self._hosts.items()}
        places = places_of(plan, over_ssh, carried, sudo=self._has_sudo)
        changed = _in_order(plan)
        sources = {name for host in changed for name in sources_needed(plan, host)}
        far = [host_place for host_place in places.values() if not host_place.is_here]
        self._left = [["recover", "rehearse", file]]
        self._left_elsewhere = {
            host.name: self._commands_elsewhere(plan, places[host.name], places)
            for host in changed
            if not places[host.name].is_here and f"apply {host.name}" not in self._record.done
        }
        for place in far:
            if place.host.edits or place.name in sources:
                self._copy(place, is_required=place.name in sources)
        named = [
            word
            for place in places.values()
            if os.path.isdir(self._directory(place))
            for word in ("--dir", f"{place.name}={self._directory(place)}")
        ]
        self._left = [
            ["recover", "rehearse", file, *named],
            *(self._applying(plan, host, places) for host in changed if places[host.name].is_here),
        ]
        if named:
            self._offer("rehearse", f"Rehearse the plan on copies {_CHANGES_NOTHING}")
        else:
            del self._left[0]
        for host in changed:
            if places[host.name].is_here:
                self._offer(
                    f"apply {host.name}",
                    f"Apply the plan to {host.name}: this changes {host.path}",
                    wanted="yes",
                )
            else:
                self._apply_elsewhere(places[host.name])

    # --- commands ----------------------------------------------------------------------------

    def _commands_until_plan(self) -> list[list[str]]:
        commands = [self._collecting_hosts()] if self._hosts else []
        if self._local:
            collected = self._record.path("local.collect")
            commands.append(["recover", "collect", *self._local, "--out", collected])
            commands.append(["doctor", *self._local])
        return [*commands, self._planning()]

    def _collecting_hosts(self) -> list[str]:
        """Read the hosts whose file is missing."""
        hosts = [part.strip() for part in self._record.answers["hosts"].split(",")]
        missing = [
            host for host in hosts if not os.path.exists(self._hosts[host.partition(":/")[0]])
        ]
        path = self._record.answers.get("path", "")
        words = ["recover", "collect", "--ssh", ",".join(missing), *([path] if path else [])]
        return [*words, "--out", self._record.path("hosts")]

    def _planning(self) -> list[str]:
        # Directories of this host rather than their collect file, which has no bytes of a log.
        paths = [*self._local, *(host for host in self._hosts.values() if self._may_come(host))]
        paths += [path for path in self._given if path not in self._local]
        paths += self._copies
        lost = self._record.answers.get("lost", "")
        options = ["--set", f"lost={lost}"] if lost else []
        return ["recover", "plan", *paths, *options, "--out", self._record.path("plan.yaml")]

    @property
    def _copies(self) -> list[str]:
        """The copies of other hosts' directories. With them, plan has the bytes of the logs."""
        copies = self._record.path("copies")
        names = sorted(os.listdir(copies)) if os.path.isdir(copies) else []
        return [os.path.join(copies, name) for name in names]

    @property
    def _has_sudo(self) -> bool:
        """True if the hosts were collected with --sudo."""
        done = self._record.done.get("hosts")
        return done is not None and "--sudo" in shlex.split(done.command)

    def _may_come(self, file: str) -> bool:
        return "hosts" not in self._record.done or os.path.exists(file)

    def _applying(self, plan: Plan, host: HostPlan, places: dict[str, HostPlace]) -> list[str]:
        words = ["recover", "apply", self._record.path("plan.yaml"), "--dir", host.path]
        for name in sorted(sources_needed(plan, host)):
            words += ["--source", f"{name}={self._directory(places[name])}"]
        return words

    def _directory(self, place: HostPlace) -> str:
        """A host's directory, or the copy of it here."""
        if place.is_here:
            return place.host.path
        return os.path.join(self._record.path("copies"), place.name)

    # --- one step ----------------------------------------------------------------------------

    def _collect_hosts(self) -> None:
        if not self._hosts:
            return
        while True:
            words = f"Collect from the hosts {_CHANGES_NOTHING}"
            self._offer("hosts", words, goes_on=(*_GOES_ON, ExitCode.UNREADABLE))
            missing = [host for host, file in self._hosts.items() if not os.path.exists(file)]
            if not missing or self._record.answers.get("without") == ",".join(missing):
                return
            self._say(f"These hosts are missing: {', '.join(missing)}.", WARN)
            self._say("Without them, the plan may lose more than it must.")
            answer = self._asked("Collect from them again? y, n (go on without them), q (quit): ")
            if answer == "q":
                raise _Stop
            if answer != "y":
                self._answered("without", "Goes on without the hosts", ",".join(missing))
                return
            del self._record.done["hosts"]
            self._left.insert(0, self._collecting_hosts())

    def _offer(
        self,
        key: str,
        purpose: str,
        *,
        makes: str = "",
        wanted: str = "y",
        goes_on: Sequence[int] = _GOES_ON,
    ) -> None:
        """Show the next command, and run it or not, until the operator goes on. With `makes` that
        requires this file. A step that was done before is only shown."""
        self._heading(purpose)
        done = self._record.done.get(key)
        if done is not None and _exists(makes):
            how = "taken by hand" if done.code is None else f"exit code {done.code}"
            self._say(f"Done at {done.time}, {how}: {done.command}", QUIET)
            del self._left[0]
            return
        question = f"Run it? {wanted}, s (skip), q (quit), or --options to add: "
        as_offered = self._left[0]
        while True:
            self._show(self._left[0])
            answer = self._asked(question)
            command = shown(self._left[0])
            if answer == "q":
                raise _Stop
            if answer.startswith("--"):
                self._add(answer)
            elif answer in (wanted, "yes"):
                code = self._run(self._left[0], goes_on)
                if code in goes_on and _exists(makes):
                    self._record.take(key, command, code)
                    break
                if code == ExitCode.USAGE:
                    self._left[0] = as_offered
            elif answer == "s" and _exists(makes):
                self._record.note(f"- skipped: `{command}`")
                self._record.take(key, command)
                break
            elif answer == "s":
                self._say(f"The next steps require {makes}. Make it, then type s.", WARN)
        del self._left[0]

    def _add(self, options: str) -> None:
        try:
            self._left[0] = [*self._left[0], *shlex.split(options)]
        except ValueError as error:
            self._say(f"These are not options: {error}", WARN)

    def _run(self, words: list[str], goes_on: Sequence[int] = _GOES_ON) -> int:
        self._record.note(f"- {now()} ran: `{shown(words)}`")
        self._to.flush()
        code = self._run_command(words)
        self._record.note(f"  - exit code {code}")
        if code not in goes_on:
            self._say(
                f"The command exited with {code}. Change it, run it again, skip it, or quit.", BAD
            )
            self._to.code = next(
                (exit_code for exit_code in ExitCode if exit_code == code), ExitCode.INTERNAL
            )
        else:
            self._to.code = ExitCode.FINE
        return code

    # --- other hosts -------------------------------------------------------------------------

    def _copy_what_plan_lacks(self) -> None:
        """Ask for copies of the other hosts' directories if the plan loses less with them."""
        if "plan" in self._record.done:
            return
        collected = self._record.path("local.collect")
        far = {file: host for host, file in self._hosts.items()}
        far |= dict.fromkeys((path for path in self._given if path not in self._local), "")
        places = collected_places(far, sudo=self._has_sudo)
        if not needs_copies([collected, *far]):
            return
        self._say("A log is damaged, and another log has the records. The plan needs the bytes.")
        for place in places:
            self._copy(place, is_required=False, why="the plan keeps more with it")

    def _copy(self, place: HostPlace, *, is_required: bool, why: str = "for the rehearsal") -> None:
        """Ask for a copy of a directory on this host: for the plan, the rehearsal, or apply."""
        folder = self._directory(place)
        why = "apply reads it" if is_required else why
        self._heading(f"Copy the directory of {place.name} to this host: {why}")
        if os.path.isdir(folder):
            self._say(f"Done: {folder}", QUIET)
            return
        self._by_hand(copy_commands(place, folder))
        while True:
            skip = "" if is_required else ", s (skip)"
            answer = self._asked(f"Type y when the copy is complete{skip}, or q (quit): ")
            if answer == "q":
                raise _Stop
            if answer == "s" and not is_required:
                return
            if answer in ("y", "yes"):
                if os.path.isdir(os.path.join(folder, METADATA_FOLDER)):
                    self._record.note(f"- {now()} copied {place.name} to `{folder}`")
                    return
                self._say(f"There is no {METADATA_FOLDER} in {folder}.", WARN)

    def _apply_elsewhere(self, place: HostPlace) -> None:
        """Show the commands for another host, and check what comes back from it."""
        key = f"apply {place.name}"
        where = f"on {place.ssh}" if place.ssh else "on its host"
        self._heading(f"Apply the plan to {place.name} {where}: this changes {place.host.path}")
        done = self._record.done.get(key)
        if done is not None:
            self._say(f"Done at {done.time}, and checked: {done.command}", QUIET)
            return
        back = self._back(place)
        self._say("kraftool must be installed there. Run apply as the user that Kafka runs as.")
        commands = self._left_elsewhere[place.name]
        self._by_hand(commands)
        while True:
            answer = self._asked("Type yes when all of them exited with 0, or q (quit): ")
            if answer == "q":
                raise _Stop
            if answer != "yes":
                continue
            problems = self._bring_back(place, back)
            for problem in problems[:_MOST_PROBLEMS]:
                self._say(f"  {problem}", WARN)
            if len(problems) > _MOST_PROBLEMS:
                self._say(f"  and {len(problems) - _MOST_PROBLEMS} more", WARN)
            if not problems:
                self._say(f"{place.name} is as the plan makes it.", GOOD)
                self._record.take(key, commands[-1] if place.ssh else back)
                del self._left_elsewhere[place.name]
                self._record.note(f"- {now()} {place.name} is as the plan makes it")
                return
            self._record.note(f"- {now()} {place.name} is not as planned: {'; '.join(problems)}")
            self._say(f"{place.name} is not as the plan makes it. Do not start it.", BAD)

    def _commands_elsewhere(
        self, plan: Plan, place: HostPlace, places: dict[str, HostPlace]
    ) -> list[str]:
        sources = {name: self._directory(places[name]) for name in sources_needed(plan, place.host)}
        file = self._record.path("plan.yaml")
        return apply_commands(place, plan, file, sources, self._back(place))

    def _back(self, place: HostPlace) -> str:
        """The collect file of a directory to which the plan was applied."""
        return self._record.path(f"{place.name}-after.collect")

    def _bring_back(self, place: HostPlace, back: str) -> Sequence[str]:
        """Collect the directory again, if ssh reaches it, and compare it with the plan."""
        if place.ssh:
            folder = self._record.path("after")
            file = str(collect_file_of(folder, place.ssh))
            if os.path.exists(file):
                os.unlink(file)
            target = f"{place.ssh}:{place.host.path}"
            words = ["recover", "collect", "--ssh", target, "--out", folder, "--quiet"]
            words += ["--sudo"] if place.sudo else []
            self._show(words)
            self._run(words)
            back = file
        return check_back(place, back)

    def _by_hand(self, commands: Sequence[str]) -> None:
        self._say("Run these commands in another shell:")
        self._record.note("- commands for another shell:")
        for command in commands:
            self._record.note(f"  - `{command}`")
            self._command(command)

    # --- words -------------------------------------------------------------------------------

    def _write_rest(self, how: str) -> None:
        self._record.note(f"- {now()} {how}; these commands are left:")
        left = [shown(command) for command in self._left]
        left += [command for commands in self._left_elsewhere.values() for command in commands]
        for command in left:
            self._record.note(f"  - `{command}`")
        self._say("To go on where it stopped, run:", NAME)
        self._show(["recover", "guide", "--folder", self.folder])
        if left:
            self._say("Or run the rest by hand:", NAME)
        for command in left:
            self._command(command)


def _exists(path: str) -> bool:
    return not path or os.path.exists(path)


def _in_order(plan: Plan) -> list[HostPlan]:
    """Return the hosts with edits, in the order in which the plan's steps apply them."""
    names = [name for step in plan.steps if step.action is Action.APPLY for name in step.hosts]
    hosts = [host for host in plan.hosts if host.edits]
    return sorted(hosts, key=lambda host: names.index(host.name) if host.name in names else 1 << 20)
