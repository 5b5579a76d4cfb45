"""The page's one script: search in its long tables, and sorting by a click on a column.

Owns the script and its hash. Without it the page says the same. It makes its own controls, sends
nothing, stores nothing, and reads and writes text only, never HTML.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

SCRIPT = """
(function () {
  "use strict";
  var UNITS = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
  var WEIGHT = { error: 1e12, warning: 1e6, info: 1 };

  function key(cell) {
    var text = cell ? cell.textContent.trim() : "";
    var marks = cell ? cell.querySelectorAll("span.n") : [];
    var sum = 0;
    marks.forEach(function (mark) {
      var number = Number(mark.textContent.replace(/[^0-9]/g, "")) || 1;
      Object.keys(WEIGHT).forEach(function (kind) {
        if (mark.classList.contains(kind)) { sum += WEIGHT[kind] * number; }
      });
    });
    if (marks.length) { return sum; }
    var found = /^(-?[0-9][0-9,]*(?:\\.[0-9]+)?)(?:\\s*([A-Za-z]+))?$/.exec(text);
    if (found && (!found[2] || UNITS[found[2]])) {
      return Number(found[1].replace(/,/g, "")) * (found[2] ? UNITS[found[2]] : 1);
    }
    return text.toLowerCase();
  }

  function compare(one, other) {
    if (typeof one === "number" && typeof other === "number") { return one - other; }
    if (typeof one === "number") { return 1; }
    if (typeof other === "number") { return -1; }
    return one < other ? -1 : one > other ? 1 : 0;
  }

  function unfold(body) {
    var head = null;
    Array.from(body.rows).forEach(function (row) {
      var first = row.cells[0];
      if (first && first.rowSpan > 1) {
        first.rowSpan = 1;
        head = first;
      } else if (first && first.tagName === "TH") {
        head = null;
      } else if (head) {
        row.insertBefore(head.cloneNode(true), row.cells[0]);
      }
    });
  }

  function sort(table, at, button) {
    var body = table.tBodies[0], head = button.parentNode;
    var down = head.getAttribute("aria-sort") === "descending";
    unfold(body);
    var rows = Array.from(body.rows).map(function (row, number) {
      return { row: row, key: key(row.cells[at]), number: number };
    });
    rows.sort(function (one, other) {
      var order = compare(one.key, other.key);
      return (down ? order : -order) || one.number - other.number;
    });
    rows.forEach(function (each) { body.appendChild(each.row); });
    Array.from(table.tHead.rows[0].cells).forEach(function (cell) {
      cell.removeAttribute("aria-sort");
    });
    head.setAttribute("aria-sort", down ? "ascending" : "descending");
  }

  function sortable(table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (head, at) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", function () { sort(table, at, button); });
      head.textContent = "";
      head.appendChild(button);
    });
  }

  function searchable(region, table) {
    var label = document.createElement("label"), input = document.createElement("input");
    var told = document.createElement("output");
    label.className = "search";
    label.textContent = "Search ";
    input.type = "search";
    input.addEventListener("input", function () {
      var wanted = input.value.trim().toLowerCase(), shown = 0;
      unfold(table.tBodies[0]);
      Array.from(table.tBodies[0].rows).forEach(function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        shown += row.hidden ? 0 : 1;
      });
      told.textContent = wanted ? " " + shown + " of " + table.tBodies[0].rows.length : "";
    });
    label.appendChild(input);
    label.appendChild(told);
    region.parentNode.insertBefore(label, region);
  }

  document.querySelectorAll("#clusters .scroll, #directories .scroll, #findings .scroll")
    .forEach(function (region) {
      var table = region.querySelector("table");
      if (table && table.tHead && table.tBodies.length) {
        searchable(region, table);
        sortable(table);
      }
    });
}());
"""

SCRIPT_SOURCE = f"'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'"
"""The script as a policy names it."""
