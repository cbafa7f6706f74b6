#include "reports/html/page/page.h"

namespace gauntlet {

const std::string_view kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #fff; --card: #f6f8fa; --text: #1c2024; --muted: #59636e;
  --line: #d5dae0; --link: #1f5fae; --focus: #1f5fae;
  --good: #1a7f4b; --bad: #c0272d; --unsure: #8a4fb5; --skip: #7d6410;
  --flaky: #a04a00;
  --bar: #d3e2f5; --bar-line: #7fa6d6; --step: #2f66a8; --again: #b86a00;
  --gap: #e6e9ee; --restart: #0f7c8a; --notice: #8a4fb5; --arrow: #59636e;
  --s1: #d3ead9; --s2: #a9d8b9; --s3: #6fbb8c; --s4: #2e8b57; --hole: #eceff2;
  --s3-text: #000; --shade: #59636e55;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --card: #1b1f24; --text: #e6e8ea; --muted: #a0a9b3;
    --line: #343b43; --link: #80b4f5; --focus: #80b4f5;
    --good: #4cc38a; --bad: #ff7b7b; --unsure: #c79bf0; --skip: #d9b44a;
    --flaky: #ffa45c;
    --bar: #233a55; --bar-line: #4d7db5; --step: #8fbbee; --again: #f0a94a;
    --gap: #262c33; --restart: #4fc3d2; --notice: #c79bf0; --arrow: #a0a9b3;
    --s1: #1d3a2a; --s2: #235338; --s3: #2c7049; --s4: #3a9a63; --hole: #1f242a;
    --s3-text: #fff; --shade: #000000aa;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans",
    sans-serif;
}
main { max-width: 1240px; margin: 0 auto; padding: 20px 16px 60px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 12px; }
h2 { font-size: 19px; margin: 36px 0 8px; }
h3 { font-size: 16px; margin: 0; display: inline; }
h4 { font-size: 14px; margin: 16px 0 4px; }
p { margin: 6px 0; max-width: 100ch; overflow-wrap: anywhere; }
a { color: var(--link); }
code { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, monospace;
  overflow-wrap: anywhere; }
.muted { color: var(--muted); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
button, input, select {
  font: inherit; color: inherit; background: var(--page);
  border: 1px solid var(--line); border-radius: 6px; padding: 4px 10px;
}
button:hover:enabled { border-color: var(--muted); }
button:disabled { opacity: .45; }
[hidden] { display: none !important; }

.proportions { display: flex; gap: 2px; height: 12px; margin: 0 0 14px; }
.proportions span { min-width: 4px; border-radius: 3px; }
.proportions .passed { background: var(--good); }
.proportions .failed { background: var(--bad); }
.proportions .flaky { background: var(--flaky); }
.proportions .inconclusive, .proportions .not-run { background: var(--unsure); }
.proportions .skipped { background: var(--skip); }
.counts, .facts { display: flex; flex-wrap: wrap; gap: 6px 28px; margin: 0; }
.counts div, .facts div { min-width: 0; }
.counts dt, .facts dt { color: var(--muted); font-size: 13px; }
.counts dd { margin: 0; font-size: 22px; font-weight: 600; }
.counts .failed dd { color: var(--bad); }
.counts .flaky dd { color: var(--flaky); }
.counts .passed dd { color: var(--good); }
.counts .inconclusive dd, .counts .not-run dd { color: var(--unsure); }
.counts .skipped dd { color: var(--skip); }
.counts .none dd { color: var(--muted); font-weight: 400; }
.facts { margin: 12px 0; }
.facts dd { margin: 0; overflow-wrap: anywhere; }

.badge {
  font-size: 12px; font-weight: 700; letter-spacing: .02em;
  border: 1px solid currentColor; border-radius: 4px; padding: 0 5px;
  white-space: nowrap;
}
.badge.passed { color: var(--good); }
.badge.failed { color: var(--bad); }
.badge.flaky { color: var(--flaky); }
.badge.inconclusive, .badge.not-run { color: var(--unsure); }
.badge.skipped { color: var(--skip); }

.filters { display: flex; flex-wrap: wrap; gap: 8px 16px; margin: 8px 0; }
.filters label { color: var(--muted); }
.filters input { width: 16em; max-width: 100%; }
.cases { border-collapse: collapse; width: 100%; }
.cases th { text-align: left; padding: 0; border-bottom: 2px solid var(--line);
  vertical-align: bottom; }
.cases th button { border: 0; background: none; color: var(--muted);
  padding: 4px 10px 4px 0; text-align: inherit; font-size: 13px;
  white-space: nowrap; }
.cases th button::after { content: "\a0\2195"; opacity: .5; }
.cases th[aria-sort=ascending] button::after { content: "\a0\2191"; opacity: 1; }
.cases th[aria-sort=descending] button::after { content: "\a0\2193"; opacity: 1; }
.cases td { padding: 5px 10px 5px 0; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
.cases .number { text-align: right; white-space: nowrap; }
.cases th.number button { padding: 4px 0 4px 10px; }
.cases th.number { padding-right: 10px; }
.cases td.duration { padding-right: 20px; }
.cases .name { min-width: 12em; }
.cases .reason { min-width: 10em; }
.pager { display: flex; gap: 12px; align-items: center; margin: 10px 0; }

.case { background: var(--card); border: 1px solid var(--line);
  border-left: 4px solid var(--line); border-radius: 8px; margin: 10px 0;
  padding: 0 16px; }
.case.failed { border-left-color: var(--bad); }
.case.flaky { border-left-color: var(--flaky); }
.case.passed { border-left-color: var(--good); }
.case.inconclusive, .case.not-run { border-left-color: var(--unsure); }
.case.skipped { border-left-color: var(--skip); }
.case[open] { padding-bottom: 12px; }
.case > summary { padding: 10px 0; cursor: pointer; overflow-wrap: anywhere; }
.case > summary .name { margin: 0 8px 0 4px; }
.cause { font-size: 17px; font-weight: 600; }
.summary { display: grid; grid-template-columns: max-content 1fr;
  gap: 4px 14px; margin: 8px 0; overflow-wrap: anywhere; }
.summary dt { color: var(--muted); }
.summary dd { margin: 0; }
.findings dt { margin-top: 6px; }
.findings dd { margin: 0 0 0 4px; }
.case ul, .case ol { margin: 4px 0; padding-left: 20px;
  overflow-wrap: anywhere; }
.never-fired { color: var(--unsure); font-weight: 600; }
.fired { color: var(--muted); }
h5 { font-size: 13px; margin: 10px 0 2px; }
.scroll-hint { display: none; color: var(--muted); font-size: 13px; }
.values { max-height: 22em; overflow: auto; margin: 4px 0 10px;
  border-bottom: 1px solid var(--line); }
.values thead th { position: sticky; top: 0; background: var(--card); }
.differences { border-collapse: separate; border-spacing: 0; font-size: 13px; }
.differences th { text-align: left; font-weight: 400; }
.differences thead th { color: var(--muted); border-bottom: 2px solid
  var(--line); white-space: nowrap; }
.differences th, .differences td { padding: 2px 16px 2px 0;
  vertical-align: top; }
.differences code { white-space: nowrap; }
.differences .number { text-align: right; }
.case pre { background: var(--page); border: 1px solid var(--line);
  border-radius: 6px; padding: 6px 10px; margin: 4px 0; overflow: auto;
  max-height: 40em; font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo,
  monospace; }
.timeline summary, .logs summary, .effects summary, .scenario summary,
.words summary, .passed summary, .more summary, #coverage summary { cursor: pointer; margin: 12px 0 0; }
.effects li { white-space: pre-wrap; }
.words { margin: 0 0 12px; }
.command { display: flex; gap: 8px; align-items: center; margin: 4px 0;
  background: var(--page); border: 1px solid var(--line); border-radius: 6px;
  padding: 6px 10px; }
.command code { flex: 1; }

.symbols { position: absolute; }
.swim { margin: 12px 0; }
.picture { display: flex; background: var(--page); border-radius: 6px;
  border: 1px solid var(--line); padding: 6px 8px; }
.picture .names { flex: 0 0 8.424908%; width: 8.424908%; height: auto; }
.picture .scroll { flex: 1; min-width: 0; overflow-x: auto; }
.picture .run { display: block; width: 100%; height: auto; }
.swim text { font-size: 11px; fill: var(--muted); paint-order: stroke;
  stroke: var(--page); stroke-width: 3px; }
.swim .name { font-size: 12px; fill: var(--text); }
.swim .number, .swim .fault-name { font-size: 10px; }
.swim .fault-name { fill: var(--text); }
.swim .idle { font-style: italic; }
.grid { stroke: var(--line); fill: none; }
.gap { fill: var(--gap); }
.bar { fill: var(--bar); stroke: var(--bar-line); }
.bar.died { stroke: var(--bad); stroke-width: 1.5; }
.step, .step-again { stroke: var(--step); fill: none; }
.step-again { stroke: var(--again); }
.saving { stroke: var(--good); stroke-width: 1.5; fill: none; }
.new, .again { fill: none; stroke: var(--step); stroke-width: 2.2; }
.again { stroke: var(--again); stroke-dasharray: 4 3; }
.committed { fill: var(--good); stroke: var(--page); }
.lost { fill: var(--page); stroke: var(--good); }
.epoch { stroke: var(--line); stroke-dasharray: 6 4; fill: none; }
.reference-end { stroke: var(--muted); stroke-dasharray: 2 4; fill: none; }
.started { fill: var(--page); stroke: var(--good); stroke-width: 1.5; }
.fault { fill: var(--bad); stroke: var(--page); }
.notice { fill: var(--notice); stroke: var(--page); }
.detection { fill: var(--page); stroke: var(--bad); stroke-width: 2; }
.restart { fill: var(--restart); stroke: var(--page); }
.resume { fill: var(--good); stroke: var(--page); }
.rejected, .dead { fill: none; stroke: var(--bad); stroke-width: 2.2; }
.running { fill: none; stroke: var(--muted); stroke-width: 2; }
.arrow { fill: none; stroke: var(--arrow); stroke-width: 1.3; }
.arrow.further { opacity: .35; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px;
  color: var(--muted); font-size: 13px; }
.case .legend { padding: 0; margin: 6px 0; }
.legend svg { width: 20px; height: 16px; vertical-align: -3px;
  margin-right: 4px; }
figcaption p { font-size: 13px; }

.scroll { overflow-x: auto; }
.matrix { border-collapse: separate; border-spacing: 2px; font-size: 13px; }
.matrix thead th { vertical-align: bottom; font-weight: 500; padding: 0; }
.matrix thead th:not(:first-child) { height: 11em; width: 26px; min-width: 26px; }
.matrix thead th span { writing-mode: vertical-rl; transform: rotate(180deg);
  white-space: nowrap; }
.matrix th:first-child { position: sticky; left: 0; background: var(--page);
  text-align: left; font-weight: 400; padding-right: 8px; white-space: nowrap; }
.matrix td, .key { text-align: center; height: 22px; min-width: 26px;
  border-radius: 3px; }
.matrix .total { color: var(--muted); position: sticky; right: 0;
  background: var(--page); z-index: 1; }
.s1 { background: var(--s1); } .s2 { background: var(--s2); }
.s3 { background: var(--s3); color: var(--s3-text); }
.s4 { background: var(--s4); color: #000; }
.hole { background: var(--hole); border: 1px dashed var(--line); }
.never { border: 1px solid var(--unsure); color: var(--unsure); }
.key { display: inline-block; width: 26px; height: 20px; line-height: 18px;
  vertical-align: bottom; }

@media screen and (max-width: 960px) {
  .cases, .cases tbody { display: block; }
  .cases thead { display: block; }
  .cases thead tr { display: flex; flex-wrap: wrap; gap: 2px 12px;
    border-bottom: 2px solid var(--line); }
  .cases thead th { border: 0; padding: 0; }
  .cases th.number button { padding: 4px 10px 4px 0; }
  .cases tbody tr { display: flex; flex-wrap: wrap; gap: 0 14px;
    padding: 8px 0; border-bottom: 1px solid var(--line); }
  .cases td { border: 0; padding: 0; }
  .cases td.name { flex: 1 0 100%; }
  .cases td.reason { flex: 1 0 100%; }
  .cases td.reason:empty { display: none; }
  .cases td.faults::before, .cases td.restarts::before,
  .cases td.recomputed::before { content: attr(data-title) " ";
    color: var(--muted); }
  .cases th { min-width: 0 !important; }
}
@media screen and (max-width: 760px) {
  main { padding: 14px 10px 40px; }
  .case { padding: 0 10px; }
  .counts { column-gap: 16px; }
  .summary { grid-template-columns: 1fr; gap: 0; }
  .summary dd { margin: 0 0 6px; }
  .picture .names { flex: 0 0 92px; width: 92px; }
  .picture .run { width: 1000px; max-width: none; }
  .scroll-hint { display: block; }
  .case pre, .values, .picture .scroll { box-shadow: inset -12px 0 10px -10px
    var(--shade); }
  .differences { font-size: 12px; }
  .differences th, .differences td { padding-right: 8px; }
  .differences thead th { white-space: normal; }
  .differences code { white-space: normal; font-size: 11px; }
  .differences td > code { display: inline-block; min-width: 8em; }
  .filters input { width: 100%; }
  .filters label:first-child { flex: 1 0 100%; }
}
@media print {
  .values, .case pre { max-height: none; }
  body { font-size: 12px; }
  main { max-width: none; padding: 0; }
  .filters, .pager, .copy, .toggles { display: none; }
  .cases th button { white-space: normal; font-size: 11px; padding: 2px 6px 2px 0; }
  .cases th button::after { content: none !important; }
  .cases .name, .cases .reason { min-width: 0; }
  .case, .picture, tr { break-inside: avoid; }
  .case { background: none; }
  .bar, .gap, .matrix td, .proportions span { print-color-adjust: exact;
    -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace gauntlet
