"""The look of the HTML report. Owns its colours, light and dark, and nothing of its content.

A status is never told by colour alone: each has a sign and a word as well.
"""

CSS = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --raised: #f6f7f9; --text: #1c2128; --soft: #5b6472; --line: #d8dde4;
  --link: #0b57d0; --good: #166b35; --bad: #c62828; --unsure: #8a5a00; --bar: #7aa7e0;
  --good-page: #e6f4ea; --bad-page: #fdecea; --unsure-page: #fdf3dc; --code: #f6f7f9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171c; --raised: #1c2128; --text: #e4e8ee; --soft: #9aa5b4; --line: #343c48;
    --link: #8ab4f8; --good: #5fd07e; --bad: #ff8a80; --unsure: #f2c14e; --bar: #3f6fae;
    --good-page: #16301f; --bad-page: #3a1c1c; --unsure-page: #352b12; --code: #1a1e25;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 4rem; background: var(--page);
  color: var(--text); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  overflow-wrap: break-word;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; padding-bottom: .3rem; }
h2 { border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 0; }
h4 { font-size: .8rem; margin: 1rem 0 .35rem; color: var(--soft); font-weight: 600; }
p { margin: .4rem 0; }
a { color: var(--link); }
.soft { color: var(--soft); }
.nowrap { white-space: nowrap; }
td.nowrap { width: 1%; }
.expected { white-space: pre-wrap; overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; }
th, td { border-bottom: 1px solid var(--line); }
thead th { font-size: .8rem; color: var(--soft); font-weight: 600; vertical-align: bottom; }
thead th.number { text-align: right; }
tbody th { font-weight: 600; min-width: 12rem; }
td .reason, th .reason { overflow-wrap: anywhere; font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
svg { display: block; max-width: 100%; }
td svg { max-width: none; }
svg text { fill: var(--soft); font-size: 11px; }
.track { fill: var(--raised); stroke: var(--line); }
.bar { fill: var(--bar); }
.whisker { fill: none; stroke: var(--text); stroke-width: 1.5; }
.zero { stroke: var(--soft); stroke-dasharray: 2 2; }
.better { fill: var(--good); } .worse { fill: var(--bad); } .even { fill: var(--soft); }
.cards { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fit, minmax(21rem, 1fr)); }
.card { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; }
.card { padding: .8rem 1rem; border-left: 5px solid var(--soft); }
.card.improves { border-left-color: var(--good); }
.card.hurts { border-left-color: var(--bad); }
.card.underpowered { border-left-color: var(--unsure); }
.card .verdict { font-size: 1.15rem; font-weight: 600; margin: .1rem 0 .4rem; }
.card p { margin: .25rem 0; }
.card .effect { float: right; font-size: 1.3rem; font-weight: 600; }
.card svg { margin: .5rem 0; }
.doubts { background: var(--unsure-page); border-radius: 8px; padding: .6rem 1rem; }
.doubts ul { margin: .25rem 0; padding-left: 1.2rem; }
.doubts h2 { border: 0; margin: 0; padding: 0; font-size: 1rem; }
.chip {
  display: inline-block; min-width: 1.5rem; padding: 0 .4rem; border-radius: 5px;
  text-align: center; font-weight: 600; text-decoration: none; white-space: nowrap;
}
a.chip:hover, a.chip:focus { outline: 2px solid var(--link); }
.pass { color: var(--good); background: var(--good-page); }
.fail { color: var(--bad); background: var(--bad-page); }
.error { color: var(--unsure); background: var(--unsure-page); }
.skip { color: var(--soft); background: var(--raised); }
.tag { font-size: .75rem; font-weight: 400; color: var(--soft); border: 1px solid var(--line); }
.tag { border-radius: 5px; padding: 0 .4rem; margin-left: .4rem; white-space: nowrap; }
.case { border: 1px solid var(--line); border-radius: 8px; margin: 1rem 0; }
.case > header { padding: .7rem 1rem; background: var(--raised); border-radius: 8px 8px 0 0; }
.case > .body { padding: .2rem 1rem .8rem; }
.trial { border-top: 1px solid var(--line); }
.trial > summary { padding: .45rem 0; cursor: pointer; }
.trial > .inside { padding: 0 0 .8rem 1.1rem; }
summary:focus-visible { outline: 2px solid var(--link); }
details > summary { cursor: pointer; }
pre {
  margin: .25rem 0; padding: .6rem .75rem; background: var(--code); border-radius: 6px;
  border: 1px solid var(--line); max-height: 28rem; overflow: auto; white-space: pre-wrap;
  font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
code { font: .92em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.reason { color: var(--soft); white-space: pre-wrap; }
.transcript { list-style: none; margin: .25rem 0; padding: 0; }
.transcript > li { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .75rem; }
.transcript > li { margin: .4rem 0; }
.transcript > li.skill { border-left-color: var(--link); }
.transcript > li.failed, .transcript > li.denied { border-left-color: var(--bad); }
.diff .add { color: var(--good); background: var(--good-page); display: block; }
.diff .cut { color: var(--bad); background: var(--bad-page); display: block; }
.diff .at { color: var(--soft); display: block; }
.sign { display: inline-block; width: 1.2em; text-align: center; }
.hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap;
}
@media print { details::details-content { content-visibility: visible; } pre { max-height: none; } }
"""
