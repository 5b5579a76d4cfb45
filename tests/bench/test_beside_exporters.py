"""The table beside other exporters says what their pages have, and the docs have its rows."""

from __future__ import annotations

from tests.bench import beside_exporters as beside
from tests.bench.beside_exporters import Shown, page_of

_OURS = """
kraftool_quorum_leader_id{cluster="a"} 1.0
kraftool_quorum_voters{cluster="a"} 3.0
kraftool_quorum_failures_tolerated{cluster="a"} 0.0
kraftool_node_up{cluster="a",node_id="3"} 0.0
kraftool_node_reachable{cluster="a",node_id="3"} 0.0
kraftool_node_reachable{cluster="a",node_id="2"} 0.0
kraftool_node_up{cluster="a",node_id="2"} 1.0
kraftool_finding{cluster="a",code="KT-LIVE-NO-SPARE",severity="warning"} 1.0
kraftool_finding{cluster="a",code="KT-LIVE-IDLE",severity="info"} 1.0
"""
_LEADER = """
raft_state{state="leader"} 1.0
raft_leader 1.0
raft_voters 3.0
active_controllers 1.0
"""
_LOST = """
raft_state{state="unattached"} 1.0
raft_leader -1.0
"""


def test_each_page_is_one_cell() -> None:
    assert beside.of_kraftool(page_of(_OURS)) == (
        "leader 1, 3 voters, 0 may fail, 2 not reached, 3 down; `KT-LIVE-NO-SPARE`"
    )
    pages = {1: page_of(_LEADER), 2: page_of(_LOST), 3: None}
    assert beside.of_jmx(pages) == (
        "1: leader, 3 voters; 2: unattached, no leader; 3: nothing; sum of ActiveControllerCount 1"
    )
    assert beside.of_kafka_exporter(page_of("kafka_brokers 2.0\n")) == (
        "2 brokers; nothing of the quorum"
    )


def test_what_is_not_there_shows_nothing() -> None:
    assert beside.of_kraftool(None) == beside.of_kafka_exporter(None) == "nothing"
    assert beside.of_kafka_exporter(page_of("up 1\n")) == "nothing"
    assert beside.of_kraftool(page_of("kraftool_quorum_leader_id -1.0\n")) == (
        "leader none, failures unknown; no finding"
    )


def test_the_docs_have_a_table_that_this_wrote() -> None:
    text = beside.DOCUMENT.read_text(encoding="utf-8")
    written = text.partition(f"{beside.BEGIN}\n")[2].partition(f"\n{beside.END}")[0]
    rows = {}
    for line in written.splitlines()[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
        rows[name] = Shown(*cells)
    assert beside.table(rows) == written
    assert len(rows) == 6
