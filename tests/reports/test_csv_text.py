"""Rows as CSV, as dump-log, timeline and the dashboard's exports write them."""

import csv
import io

from kraftool.reports.text.csv_text import csv_text


def test_truths_are_written_as_in_json_and_what_is_not_known_is_empty() -> None:
    assert csv_text([("lost", "runs"), (True, 3), (False, None)]) == "lost,runs\ntrue,3\nfalse,\n"


def test_no_cell_is_a_formula_and_every_other_text_comes_back() -> None:
    words = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "a=1", 'a "b", c\nd', "", "\udcff"]
    read = next(csv.reader(io.StringIO(csv_text([words]), newline="")))
    assert read == ["'" + word for word in words[:6]] + words[6:9] + ["\\xff"]
