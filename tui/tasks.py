"""A view whose work may take minutes: it shows the progress, and the user can stop it.

Owns the life of such a task. One runs at a time in a view. It ends with the view, and its thread
ends at the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kraftool.tui.details import Working
from kraftool.tui.view import View
from kraftool.watching.task import StoppedError, Task

T = TypeVar("T")
Partial = TypeVar("Partial")


class TaskView(View):
    """A view with a `Working` line among its widgets."""

    _work_task: Task | None = None

    def begin(
        self,
        what: str,
        function: Callable[[Task], T],
        then: Callable[[T], None],
        partly: Callable[[Partial], None] | None = None,
    ) -> None:
        """Run a task in place of the one before. `then` gets its result, unless it is stopped,
        and `partly` its partial results.

        The line at the bottom shows errors. `what` precedes the words on its progress.
        """
        self.stop()
        task = self._work_task = Task()

        def show(result: Partial) -> None:
            # A result that waited while the task ended is older than its last one.
            if partly is not None and self._work_task is task:
                partly(result)

        if partly is not None:
            # Not waited for: a worker may hold a lock that the view waits for when it closes.
            task.take_partial = partial(self.call_later, show)

        def run() -> tuple[T] | None:
            try:
                return (function(task),)
            except StoppedError:
                return None
            finally:
                self.app.call_from_thread(self._over, task)

        def done(result: tuple[T] | None) -> None:
            if result is not None and not task.is_stopped:
                then(result[0])

        self._follow(task, what)
        self.work(what, run, done)

    def _over(self, task: Task) -> None:
        if self._work_task is task:
            self._work_task = None
            self._follow(None)

    def opening(self, task: Task | None, what: str = "") -> None:
        """Show a task that cannot be stopped, unless another one runs. None ends it."""
        if self._work_task is None:
            self._follow(task, what, can_stop=False)

    def _follow(self, task: Task | None, what: str = "", *, can_stop: bool = True) -> None:
        for working in self.query(Working):  # none, when the program exits
            working.follow(task, what, can_stop=can_stop)

    @property
    def is_working(self) -> bool:
        return self._work_task is not None

    def stop(self) -> bool:
        """End the task that runs; False if there is none."""
        task = self._work_task
        if task is None:
            return False
        task.stop()
        self._over(task)
        return True

    def action_stop(self) -> None:
        self.watch_app.tell("stopped" if self.stop() else "this view has no work to stop")

    def on_unmount(self) -> None:
        """A program that ends must not wait for a thread that reads on."""
        if self._work_task is not None:
            self._work_task.stop()
