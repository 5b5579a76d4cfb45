"""The refusals of a plan, and the word with which a person accepts the risk.

Owns that all reasons are told at once, and that nothing that was asked for is left out without a
word.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.plan import Risk
from kraftool.repair.request import Acceptance, PlanRequest


class PlanRefused(KraftoolError):
    """No plan is made, for safety."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        words: Sequence[str] = (),
        is_loss: bool = False,
        archives: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.words = tuple(words)
        """The words by which a person can accept the risk."""
        self.is_loss = is_loss
        """True if the plan would give up records."""
        self.archives = tuple(archives)
        """Files with the bytes of directories, and the commands that make them."""


def accepted(
    request: PlanRequest, risks: Sequence[Risk], *, keep_running: str = ""
) -> tuple[Risk, ...]:
    """The risks, all of which were accepted. Raises PlanRefused for those that were not.

    `keep_running` names the nodes that must not stop, although it is a risk that they run.
    """
    missing = [risk for risk in risks if risk.word not in request.accepted]
    if missing:
        texts = "; ".join(risk.text for risk in missing)
        words = " ".join(f"--accept {word}" for word in dict.fromkeys(one.word for one in missing))
        raise PlanRefused(
            f"kraftool makes no plan: {texts}",
            hint=f"{_cause(missing, keep_running)}to accept this risk, add {words}",
            words=tuple(dict.fromkeys(risk.word for risk in missing)),
            is_loss=any(risk.word == Acceptance.AHEAD for risk in missing),
        )
    return tuple(risks)


_REMEDIES = {
    Acceptance.RUNNING.value: "stop every node, and plan again",
    Acceptance.OTHER_CLUSTER.value: "leave the directories of the other cluster out",
    Acceptance.INCOMPLETE.value: "choose a whole state with --set state=ID",
    Acceptance.OLD_KAFKA.value: "install Kafka 3.9.1 or later on every node",
}
"""What removes the cause of a risk; of the others a person can only accept it."""


def _cause(missing: Sequence[Risk], keep_running: str) -> str:
    """Return what removes the causes, as the begin of a sentence that goes on."""
    remedies = dict(_REMEDIES)
    if keep_running:
        stay = f"do not stop {keep_running}: a majority of the voters has to stay up"
        remedies[Acceptance.RUNNING.value] = stay
    told = dict.fromkeys(remedies[risk.word] for risk in missing if risk.word in remedies)
    return "".join(f"{remedy}. Or " for remedy in told)


def refuse_ignored(request: PlanRequest, *, one_leads: bool) -> None:
    """Raise KraftoolError for what was asked for, and has no place in a plan of this sort: one by
    which a single voter leads a quorum of its own, or one that mends directories."""
    _refuse_halves(request)
    of_one = {
        "--fence": request.fence,
        f"--method {request.method}": request.method is not None,
        f"--set state={request.state}": request.state is not None,
        f"--set epoch={request.epoch}": request.epoch is not None,
        f"--set offset={request.offset}": request.offset is not None,
    }
    of_mending = {f"--set rebuild={request.rebuild}": request.rebuild is not None}
    words = of_mending if one_leads else of_one
    asked = ", ".join(word for word, is_there in words.items() if is_there)
    if asked and one_leads:
        raise KraftoolError(
            f"{asked}: one voter is to lead alone and the others fetch from it, so this would"
            " have no effect",
            hint="leave it out. To let the leader continue with another directory's state: --set"
            " state=ID",
        )
    if asked:
        raise KraftoolError(
            f"{asked}: no majority of the voters is lost, so this would have no effect",
            hint="leave it out. Or declare which voters are lost (--set lost=ID,…), or which one"
            " is to lead alone (--set seed=ID)",
        )


def _refuse_halves(request: PlanRequest) -> None:
    """Refuse options that mean something only together with another one."""
    if request.source is not None and request.rebuild is None:
        raise KraftoolError(
            f"--set from={request.source} names the source of rebuild=ID, but nothing is to be"
            " rebuilt",
            hint=f"--set rebuild=ID --set from={request.source}; or leave it out",
        )
    if request.cluster_id and not request.fence:
        raise KraftoolError(
            f"--set cluster.id={request.cluster_id} is the new id of --fence, but you did not"
            " ask for --fence",
            hint="add --fence, or leave it out",
        )
