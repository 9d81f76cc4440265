// Defines the style of the page, for light and dark screens and for paper. Colour is never the only sign: waits are thin, terminations
// thick, and the time until a replacement and the need are dashed.
import type { Html } from "./html.ts";

export const pageStyle: Html = {
	markup: `
:root{color-scheme:light dark;--ink:#1c1e21;--dim:#5b6066;--paper:#fff;--line:#d5d8dc;--wait:#b35900;--end:#1f5fbf;--bad:#b3261e;--good:#1e7a3a}
@media(prefers-color-scheme:dark){:root{--ink:#e6e8ea;--dim:#a2a8af;--paper:#16181b;--line:#3a3f45;--wait:#ffb066;--end:#7fb0ff;--bad:#ff8a80;--good:#7dd694}}
@media print{:root{--ink:#000;--dim:#444;--paper:#fff;--line:#bbb;--wait:#b35900;--end:#1f5fbf;--bad:#b3261e;--good:#1e7a3a}body{max-width:none!important}tr,figure{break-inside:avoid}}
*{box-sizing:border-box}body{margin:0 auto;padding:1rem;max-width:75rem;background:var(--paper);color:var(--ink);font:15px/1.45 system-ui,sans-serif}
h1{font-size:1.35rem}h2{font-size:1.1rem;margin-top:2rem;border-bottom:1px solid var(--line)}h3{font-size:1rem}h4{font-size:.95rem}
small,.legend,footer,dt{color:var(--dim)}small{font-weight:400}
pre{white-space:pre-wrap;overflow-wrap:anywhere;padding:.5rem;border:1px solid var(--line)}
dl{display:flex;flex-wrap:wrap;gap:.5rem 2rem}dd{margin:0;font-size:1.2rem;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse;margin:.5rem 0 1.5rem}caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.1rem .75rem .1rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}th{font-weight:500;color:var(--dim)}
.pods{table-layout:fixed}.at,.waits th{white-space:nowrap;width:1%}.waits td:nth-child(3),.waits th:nth-child(3){width:30%}.waits th:last-child{width:auto}
.pods th:nth-child(2){width:9.5rem}.pods th:nth-child(3){width:5rem}.pods th.time{width:50%;padding-right:0}.pods td:last-child{padding-right:0}
@media(max-width:60rem){.pods th.time{width:42%}}
.axis{position:relative;display:block;height:1.3em;font-size:.8rem;color:var(--dim);container-type:inline-size}.axis span{position:absolute;height:100%;white-space:nowrap;padding-left:.2rem;border-left:1px solid var(--line)}
@container(max-width:37rem){.axis span:nth-child(even),.axis .late{display:none}}
td svg{display:block;width:100%;height:.9rem}
svg path{fill:none;vector-effect:non-scaling-stroke}.w{stroke:var(--wait);stroke-width:3}.t{stroke:var(--end);stroke-width:10}.g{stroke:var(--good);stroke-width:3;stroke-dasharray:3 3}
figure{margin:1rem 0}.curve{position:relative;padding-left:2.5rem}.curve svg{display:block;width:100%;height:7rem;border:solid var(--line);border-width:0 0 1px 1px}
.top,.bottom{position:absolute;left:0;width:2rem;text-align:right;font-size:.8rem;color:var(--dim)}.top{top:.2rem}.bottom{top:6rem}
.healthy{stroke:var(--end);stroke-width:2.5}.need{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:6 4}.expected{stroke:var(--dim);stroke-width:1;stroke-dasharray:1 3}.mark{stroke:var(--wait);stroke-width:2}
.legend svg{width:30px;height:8px;vertical-align:middle}
.failed,.error,.why{color:var(--bad)}.warning{color:var(--wait)}.evicted{color:var(--good)}
`,
};
