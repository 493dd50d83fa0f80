// SPDX-License-Identifier: BSD-2-Clause
// The tab about the trace: source, size; and the legend.
import {element} from "./element.js";
import {legend} from "./legend.js";
import {formatSpan} from "./time.js";

export class InfoPanel {
  title = "Trace";

  constructor(parts) {
    Object.assign(this, parts); // trace, state, colors
  }

  build() {}

  show() {
    if (this.node.hidden)
      return;
    const {trace, state} = this, count = (n) => n.toLocaleString("en");
    const begin = new Date(Number(BigInt(trace.begin_clock_ns) / 1000000n));
    const facts = [["Trace", trace.name], ["Machine", `${trace.arch}, ${trace.cpus.length} CPUs`],
                   ["Begin", isNaN(begin) ? trace.begin_clock_ns : begin.toISOString().replace("T", " ").replace("Z", " UTC")],
                   ["Length", formatSpan(state.duration)], ["Events", count(trace.events_total)],
                   ["Processes", count(trace.processes.size)], ["Threads", count(trace.threads.filter((t) => !t.idle).length)],
                   ["State", trace.indexing ? "building its index" : trace.live ? "still growing" : trace.lost.reports ? "ended; what is missing or damaged is above the lanes" : "complete"]];
    this.node.replaceChildren(
      element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element("h2", {}, "Colours"), legend(trace),
      element("p", {class: "note"}, "A lane is striped where events that would show its state are missing."));
  }
}
