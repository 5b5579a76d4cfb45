"""The guide's questions about hosts, paths and lost voters; and its words on the terminal.

Owns the questions, and that each is asked once: the record keeps the answers.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence

import typer
from rich.text import Text

from kraftool.commands.finding_view import COMMAND, NAME, QUIET, WARN, text
from kraftool.commands.output import Output
from kraftool.commands.recover_collect_nodes import collect_file_of
from kraftool.commands.recover_guide_record import GuideRecord
from kraftool.commands.remote_nodes import ssh_nodes
from kraftool.decoders.errors import KraftoolError

Ask = Callable[[str], str]
"""Returns the answer to a question. Raises typer.Abort on Ctrl-C and at the end of input."""

_IDS = re.compile(r"\d+(,\d+)*\Z")
_PATH_QUESTION = "Path on the hosts without one, as /etc/kafka/server.properties: "


def ask_on_terminal(question: str) -> str:
    """Ask on stderr, as apply does."""
    answer: str = typer.prompt(question, default="", show_default=False, prompt_suffix="", err=True)
    return answer.strip()


class GuideQuestions:
    """The questions and answers of one guide."""

    def __init__(self, to: Output, record: GuideRecord, ask: Ask) -> None:
        self._to, self._record, self._ask = to, record, ask

    # --- what there is -----------------------------------------------------------------------

    @property
    def _given(self) -> list[str]:
        """Return what survives, as the operator named it."""
        return shlex.split(self._record.answers.get("paths", ""))

    @property
    def _local(self) -> list[str]:
        """Directories and server.properties files, which collect and doctor read. Collect files
        and archives are read by plan as they are."""
        return [path for path in self._given if os.path.isdir(path) or path.endswith(".properties")]

    @property
    def _hosts(self) -> dict[str, str]:
        """The hosts that ssh reaches, each with its collect file."""
        given = self._record.answers.get("hosts", "")
        names = [part.strip().partition(":/")[0] for part in given.split(",") if part.strip()]
        return {name: str(collect_file_of(self._record.path("hosts"), name)) for name in names}

    def _ask_what_there_is(self) -> None:
        """Ask for hosts, paths and lost voters, unless that was answered before."""
        self._ask_for_hosts()
        self._ask_what_survives()
        self._ask_who_is_lost()

    def _ask_for_hosts(self) -> None:
        if self._is_answered("hosts", "Hosts over ssh"):
            return
        self._heading("Are there directories on other hosts?")
        self._say("kraftool reads them over ssh, and changes nothing there. A host needs tar, and")
        self._say("no kraftool until the plan is applied to it.")
        while True:
            hosts = self._asked("Hosts, as ctl-1,broker-11:/srv/kafka/data (empty: none): ")
            path = ""
            try:
                if hosts and any(":/" not in part for part in hosts.split(",")):
                    path = self._asked(_PATH_QUESTION)
                names = [ssh_node.name for ssh_node in ssh_nodes(hosts, path)] if hosts else []
                for name in names:
                    if " " in name:
                        raise KraftoolError(f"{name} is not a host")
                    if names.count(name) > 1:
                        raise KraftoolError(f"{name} is named twice")
            except KraftoolError as error:
                self._say(f"{error.message}: {error.hint}" if error.hint else error.message, WARN)
                continue
            self._record.answer("path", path)
            self._answered("hosts", "Hosts over ssh", hosts)
            return

    def _ask_what_survives(self) -> None:
        if self._is_answered("paths", "Paths"):
            return
        self._heading("What survives on this host?")
        self._say("Data directories, server.properties files and collect files, with blanks")
        self._say("between them. Brokers count: they have the metadata too.")
        while True:
            try:
                empty = " (empty: none)" if self._hosts else ""
                given = shlex.split(self._asked(f"Paths{empty}: "))
            except ValueError as error:
                self._say(f"This is not a list of paths: {error}", WARN)
                continue
            missing = [path for path in given if not os.path.exists(path)]
            for path in missing:
                self._say(f"{path} does not exist.", WARN)
            if not missing and (given or self._hosts):
                break
        self._answered("paths", "Paths", shlex.join(os.path.abspath(path) for path in given))

    def _ask_who_is_lost(self) -> None:
        if self._is_answered("lost", "Lost voters"):
            return
        while True:
            lost = self._asked("Ids of the voters whose disks are lost, as 2,3 (empty: none): ")
            if not lost or _IDS.match(lost.replace(" ", "")):
                self._answered("lost", "Lost voters", lost.replace(" ", ""))
                return
            self._say(f"{lost} is not a list of node ids.", WARN)

    def _is_answered(self, key: str, words: str) -> bool:
        """Show an answer from before."""
        if key not in self._record.answers:
            return False
        self._say(f"{words}: {self._record.answers[key] or 'none'}", QUIET)
        return True

    def _answered(self, key: str, words: str, answer: str) -> None:
        self._record.note(f"- {words}: {answer or 'none'}")
        self._record.answer(key, answer)

    # --- words -------------------------------------------------------------------------------

    def _asked(self, question: str) -> str:
        self._to.flush()
        return self._ask(question)

    def _heading(self, words: str) -> None:
        self._to.line()
        self._say(words, NAME)

    def _say(self, words: str, style: str = "") -> None:
        self._to.rich(text(words, style), unbroken=True)  # it may have a path, to be copied

    def _show(self, words: Sequence[str]) -> None:
        self._command(shown(words))

    def _command(self, command: str) -> None:
        line = Text("  ").append("$ ", style=QUIET).append_text(text(command, COMMAND))
        self._to.rich(line, unbroken=True)


def shown(words: Sequence[str]) -> str:
    """A command as a shell has it."""
    return f"kraftool {shlex.join(words)}"
