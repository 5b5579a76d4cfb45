"""The look of the page, and the policy that lets nothing else into it.

Owns the one style block and its hash. It refuses pictures, fonts, connections and every script but
the page's own: the page works from a disk without a network, and data in it can start nothing.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from kraftool.reports.fleet.page_script import SCRIPT_SOURCE

__all__ = ["POLICY", "STYLE"]

STYLE = """
:root {
  color-scheme: light dark; --page: #f6f7f9; --card: #fff; --line: #dfe3e8; --soft: #eef1f4;
  --ink: #1b2129; --quiet: #5a6572; --link: #1f5fbf; --error: #c4283a;
  --errorbar: #cf3545; --warning: #925700;
  --warningbar: #dd9a26; --info: #8796a8; --plain: #4678c0; --good: #1c7c4a;
  --mono: ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
  --errorbg: #fdf0f1; --warningbg: #fdf6e9; --goodbg: #eef8f2; --goodline: #b9dcc8;
}
@media (prefers-color-scheme:dark) {
  :root {
    --page: #0e1116; --card: #161a21; --line: #2b323c; --soft: #1f252d; --ink: #dfe5ec;
    --quiet: #96a3b1; --link: #7db3ff; --error: #ff7480; --errorbar: #e2525f; --warning: #edb04c;
    --warningbar: #d99a2b; --info: #74859a; --plain: #5b8fdc; --good: #5fca90;
    --errorbg: #2a171b; --warningbg: #281f11; --goodbg: #12251b; --goodline: #26523a;
  }
}
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 3.2rem }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
}
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.skip { position: absolute; left: -99em }
.skip:focus {
  left: 1rem; top: .5rem; background: var(--card); padding: .3rem .6rem; z-index: 3;
}
main, .top, footer { max-width: 1480px; margin: 0 auto; padding: 0 20px }
.top { padding-top: 22px }
.brand {
  color: var(--quiet); font-size: 12.5px; display: flex; flex-wrap: wrap; gap: .2rem 1rem;
  justify-content: space-between;
}
h1 {
  font-size: 22px; line-height: 1.3; margin: 6px 0 0; font-weight: 650; letter-spacing: -.01em;
  text-wrap: balance;
}
h2 { font-size: 17px; margin: 34px 0 4px; font-weight: 650 }
h3 { font-size: 14px; margin: 0; font-weight: 650 }
p { margin: .35rem 0 }
.lead { color: var(--quiet); margin: 0 0 12px; max-width: 95ch }
.q { color: var(--quiet) }
.r { white-space: nowrap }
code { font-family: var(--mono); font-size: 12.5px }
code, bdi, td, th, pre { unicode-bidi: isolate; overflow-wrap: anywhere }
nav {
  position: sticky; top: 0; z-index: 2; background: var(--page);
  border-bottom: 1px solid var(--line); margin-top: 16px;
}
nav ul {
  max-width: 1480px; margin: 0 auto; padding: 0 20px; display: flex; gap: 1.3rem;
  list-style: none; overflow-x: auto; scrollbar-width: none;
}
nav a {
  display: block; padding: .6rem 0; color: var(--quiet); white-space: nowrap; font-weight: 550;
}
nav a:hover { color: var(--ink) }
.verdict {
  background: var(--card); border: 1px solid var(--line); border-left: 5px solid var(--good);
  border-radius: 8px; padding: 16px 20px; margin-top: 12px;
}
.verdict.error { border-left-color: var(--error) }
.verdict.warning { border-left-color: var(--warningbar) }
.verdict.info { border-left-color: var(--info) }
.verdict p { color: var(--quiet); max-width: 110ch }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit,minmax(104px,1fr)); gap: 10px;
  margin: 12px 0 0; padding: 0;
}
.tiles>div {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 9px 12px; display: flex; flex-direction: column-reverse; justify-content: flex-end;
}
.tiles dt { color: var(--quiet); font-size: 12.5px }
.tiles dd {
  margin: 0; white-space: nowrap; font-size: 20px; font-weight: 650; line-height: 1.3;
  font-variant-numeric: tabular-nums;
}
.card h2 { font-size: 14px; margin: 0 }
.map { display: flex; flex-wrap: wrap; gap: 3px; margin: 8px 0 0 }
.map a {
  width: 15px; height: 15px; border-radius: 3px; background: var(--goodbg);
  border: 1px solid var(--goodline); font-size: 9px; line-height: 13px; text-align: center;
  color: transparent;
}
.map.named { display: grid; grid-template-columns: repeat(auto-fill,minmax(9.5em,1fr)) }
.map.named a {
  width: auto; height: auto; padding: 2px 6px; font-size: 12px; line-height: 1.5;
  text-align: left; color: var(--ink); overflow: hidden; text-overflow: ellipsis;
  white-space: nowrap;
}
.map.named .error, .map.named .warning { color: var(--card) }
.now { list-style: none; margin: 0; padding: 0 }
.search { display: block; margin: 0 0 6px }
.search input { font: inherit; min-width: 16em }
th button {
  all: unset; cursor: pointer; font: inherit; color: inherit;
}
th button:hover { text-decoration: underline }
th[aria-sort="descending"] button::after { content: " \\2193" }
th[aria-sort="ascending"] button::after { content: " \\2191" }
.map a:hover { outline: 2px solid var(--link); text-decoration: none }
.map .error { background: var(--errorbar); border-color: var(--errorbar); color: var(--card) }
.map .warning {
  background: var(--warningbar); border-color: var(--warningbar); color: var(--card);
}
.map .info { background: none; border-color: var(--info) }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 14px 18px; margin: 10px 0; min-width: 0;
}
.fine { background: var(--goodbg) }
.b {
  display: inline-block; border-radius: 999px; padding: 0 .55em; font-size: 12px;
  line-height: 1.6; font-weight: 600; white-space: nowrap; border: 1px solid;
}
.b.error, .n.error { color: var(--error) }
.b.warning, .n.warning { color: var(--warning) }
.b.info, .n.info { color: var(--quiet) }
.b.good, .n.good { color: var(--good) }
.b.error { background: var(--errorbg) }
.b.warning { background: var(--warningbg) }
.n { white-space: nowrap; font-variant-numeric: tabular-nums; margin-right: .6em }
.causes {
  list-style: none; margin: 0; padding: 0; display: grid; gap: 12px; align-items: start;
  grid-template-columns: repeat(auto-fill,minmax(min(100%,520px),1fr));
}
.causes .card { margin: 0 }
.cause { border-left: 4px solid var(--info) }
.cause.error { border-left-color: var(--error) }
.cause.warning { border-left-color: var(--warningbar) }
.head { display: flex; flex-wrap: wrap; gap: .25rem .7rem; align-items: baseline }
.head .code { font-family: var(--mono); font-weight: 650; font-size: 13.5px }
.head .where { margin-left: auto; color: var(--quiet); font-variant-numeric: tabular-nums }
.advice + .advice { border-top: 1px solid var(--line); margin-top: .7rem; padding-top: .5rem }
.do { margin: .5rem 0 .2rem }
.do b { font-weight: 650 }
pre {
  margin: .45rem 0 .1rem; background: var(--soft); border-radius: 6px; padding: .5rem .75rem;
  font-size: 12.5px; font-family: var(--mono); white-space: pre-wrap; line-height: 1.55;
}
.plots {
  display: grid; gap: 12px;
  grid-template-columns: repeat(auto-fill,minmax(min(100%,380px),1fr));
}
figure {
  margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 14px 18px; min-width: 0;
}
@media (min-width:1240px) {
  figure.wide { grid-column: span 2 }
}
.lanes { margin: 12px 0 }
figcaption { margin-bottom: 10px }
figcaption p { color: var(--quiet); font-size: 12.5px; margin: 0 }
figure h4 { margin: 12px 0 4px; font-size: 12.5px; color: var(--quiet); font-weight: 600 }
svg { display: block; overflow: hidden }
svg text { fill: var(--ink); font-size: 12.5px }
svg .name { font-family: var(--mono); font-size: 12px }
svg .end { text-anchor: end }
svg .number { fill: var(--quiet); font-variant-numeric: tabular-nums }
svg rect { rx: 2px; fill: var(--plain) }
svg .track { fill: var(--soft) }
svg .error { fill: var(--errorbar) }
svg .warning { fill: var(--warningbar) }
svg .info, svg .unknown { fill: var(--info) }
.note, .cut { color: var(--quiet); font-size: 12.5px; margin: .5rem 0 0 }
.cut {
  border: 1px dashed var(--line); border-radius: 6px; padding: .45rem .8rem; margin: 10px 0;
}
details.card { font-size: inherit }
details.card > summary { color: inherit; padding: 0 }
details.card > summary::before { content: "▸"; color: var(--quiet) }
details.card[open] > summary::before { content: "▾" }
details.card > .scroll, details.card > p { margin-left: 0 }
details { margin-top: 8px; font-size: 12.5px }
summary { cursor: pointer; color: var(--quiet) }
summary:hover { color: var(--ink) }
.scroll {
  overflow: auto; max-height: 75vh; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; margin: 10px 0;
}
figure .scroll { max-height: 18rem; margin: 6px 0 0 }
table {
  border-collapse: separate; border-spacing: 0; width: 100%; font-size: 13px;
  line-height: 1.45;
}
th, td {
  text-align: left; vertical-align: top; padding: 6px 12px;
  border-bottom: 1px solid var(--line);
}
tbody tr:last-child>* { border-bottom: 0 }
thead th {
  position: sticky; top: 0; background: var(--soft); font-weight: 600; white-space: nowrap;
  font-size: 12px; color: var(--quiet); z-index: 1;
}
tbody th { font-weight: 500; white-space: nowrap }
td.d, th.d { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr:target>* { background: var(--warningbg) }
tbody tr:hover>* { background: var(--soft) }
.clusters td, .directories td { white-space: nowrap }
.clusters td:nth-child(8) { white-space: normal; min-width: 9rem }
.directories td:nth-last-child(9) { white-space: normal; min-width: 26rem }
.clusters td:nth-child(n+6):not(:nth-child(8), :nth-child(10)),
.directories td:nth-last-child(10),
.directories td:nth-last-child(-n+6):nth-last-child(n+3) {
  text-align: right; font-variant-numeric: tabular-nums;
}
.clusters tbody th, .directories th[rowspan] { background: var(--card) }
@media (min-width:900px) {
  .clusters tbody th, .directories th[rowspan] { position: sticky; left: 0 }
}
td p:first-child { margin-top: 0 }
td p:last-child { margin-bottom: 0 }
.span { margin-top: 18px }
.sub { margin-top: 22px }
td.w { min-width: 21rem }
td.t { min-width: 26rem }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.4rem; margin: 0 }
.facts dt { color: var(--quiet) }
.facts dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
footer { color: var(--quiet); font-size: 12.5px; padding-top: 24px; padding-bottom: 40px }
@media (max-width:640px) {
  main, .top, footer, nav ul { padding-left: 14px; padding-right: 14px }
  h1 { font-size: 19px }
  .verdict, .card, figure { padding-left: 14px; padding-right: 14px }
  .head .where { margin-left: 0; width: 100% }
  .tiles { grid-template-columns: repeat(auto-fit,minmax(104px,1fr)) }
  .tiles dd { font-size: 18px }
  .facts { grid-template-columns: 1fr; gap: 0 }
  .facts dd { margin-bottom: .5rem }
  th, td { padding: 5px 9px }
}
@page { margin: 12mm }
@page wide { size: landscape; margin: 10mm }
@media print {
  :root { --page: #fff }
  body { font-size: 11px }
  main, .top, footer { max-width: none; padding: 0 }
  nav, .skip, figure details { display: none }
  .scroll { max-height: none; overflow: visible }
  details::details-content { content-visibility: visible; block-size: auto }
  .card, figure, .tiles > div, tr { break-inside: avoid }
  .lanes, details.card { break-inside: auto }
  h2, summary { break-after: avoid }
  #clusters, #directories, #findings { page: wide }
  .causes, .plots { grid-template-columns: 1fr 1fr }
  table { font-size: 9px }
  code, pre, .head .code { font-size: 8.5px }
  th, td { padding: 3px 5px }
  thead th { position: static; white-space: normal; font-size: 9px }
  .clusters td, .directories td { white-space: normal }
  td.t, td.w, .clusters td:nth-child(8), .directories td:nth-last-child(9) { min-width: 0 }
  .n { margin-right: .3em }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
@media (prefers-contrast:more) {
  :root { --line: currentColor; --quiet: var(--ink) }
}
@media (forced-colors:active) {
  .map a { border: 1px solid }
  .map .error, .map .warning { color: CanvasText }
  svg rect { forced-color-adjust: none }
}
"""

POLICY = (
    "default-src 'none'; img-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-"
    + b64encode(sha256(STYLE.encode()).digest()).decode()
    + f"'; script-src {SCRIPT_SOURCE}"
)
"""What a browser is told to allow: this style block, the one script, and nothing else."""
