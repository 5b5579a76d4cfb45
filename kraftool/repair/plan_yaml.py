"""plan.yaml: a plan as a person reads it, and as apply believes it.

Owns the file's form: `id:` first, then the plan top down in block style. What is read back is
believed only if the id is the hash of everything below it, so that a plan that was edited, cut off
or mixed up with another is refused as a whole.
"""

from __future__ import annotations

from typing import Any

import yaml

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.safe_yaml import YamlError, YamlLimits, load_yaml
from kraftool.repair.document import DocumentError, from_document, to_document
from kraftool.repair.plan import Plan

MOST_BYTES = 8 << 20
_SHORT = 84
_BOUNDS = YamlLimits(bytes=MOST_BYTES, events=400_000, depth=16)


class PlanError(KraftoolError):
    """A file that is no plan, or not the plan that its id says."""


class _Dumper(yaml.SafeDumper):
    """Lists below their key, without the anchors that PyYAML gives to what occurs twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def represent_mapping(
        self, tag: str, mapping: Any, flow_style: bool | None = None
    ) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        parts = [part for pair in node.value for part in pair]
        node.flow_style = _is_short(parts)
        return node

    def represent_sequence(
        self, tag: str, sequence: Any, flow_style: bool | None = None
    ) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        node.flow_style = _is_short(node.value)
        return node


def _is_short(parts: list[yaml.Node]) -> bool:
    """True if a collection reads well on one line."""
    return all(isinstance(part, yaml.ScalarNode) for part in parts) and (
        sum(len(part.value) for part in parts) < _SHORT
    )


def plan_to_yaml(plan: Plan) -> bytes:
    """The plan's file."""
    document = {"id": plan.id, **to_document(plan)}
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=110)
    data = text.encode()
    if len(data) > MOST_BYTES:
        raise PlanError(f"the plan has {len(data)} bytes, but kraftool reads only {MOST_BYTES}")
    return data


def plan_from_yaml(data: bytes, name: str = "plan.yaml") -> Plan:
    """Read a plan. Raises PlanError where it is none, or has been changed."""
    try:
        document = load_yaml(data, _BOUNDS)
        if not isinstance(document, dict) or next(iter(document), None) != "id":
            raise DocumentError("the first key of a plan is id")
        stated_id = document.pop("id")
        plan = from_document(Plan, document, "plan")
    except (YamlError, DocumentError) as error:
        hint = error.hint or "it is not a plan, or not a whole one: copy it again, or plan again"
        raise PlanError(f"{name}: {error.message}", hint=hint) from None
    if stated_id != plan.id:
        raise PlanError(
            f"{name}: its id is {str(stated_id)[:80]}, but its content has the id {plan.id}",
            hint="the file was changed or cut off after it was made: copy it again, or make the"
            " plan again with recover plan",
        )
    return plan
