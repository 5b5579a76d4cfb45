"""One line at the top of a view that asks for words: a filter, or a place to go to.

Owns being seen only while it is used. What the words mean is for the view.
"""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class LineInput(Input):
    """A line to write in. While it has the focus, the footer shows Enter and Escape: a click on
    one of them does what the key does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Accept", key_display="Enter"),
        Binding("escape", "leave", "Cancel", key_display="Esc"),
    ]

    class Left(Message):
        """The user left the line without an answer."""

        def __init__(self, input: LineInput) -> None:
            super().__init__()
            self.input = input

    def action_leave(self) -> None:
        self.post_message(self.Left(self))


class Prompt(LineInput):
    """Hidden until it is opened; Enter hands over what was written, Escape nothing."""

    DEFAULT_CSS = "Prompt { display: none; height: 1; background: $surface; }"

    class Answered(Message):
        """Words for what was asked; None where it was left."""

        def __init__(self, prompt: Prompt, words: str | None) -> None:
            super().__init__()
            self.prompt = prompt
            self.words = words

        @property
        def control(self) -> Prompt:
            return self.prompt

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, compact=True)
        self.asked = ""

    def ask(self, what: str, hint: str, value: str = "") -> None:
        """Ask; `what` comes back with the answer."""
        self.asked = what
        self.placeholder = f"{what}: {hint}"
        self.value = value
        self.display = True
        self.screen.set_focus(self)  # at once: when it is seen, it listens

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self._leave(message.value)

    def action_leave(self) -> None:
        self._leave(None)

    def _leave(self, words: str | None) -> None:
        self.display = False
        self.post_message(self.Answered(self, words))
