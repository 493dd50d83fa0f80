// SPDX-License-Identifier: BSD-2-Clause
// The tab about the trace: source, size, losses; and the legend.
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
                   ["State", trace.indexing ? "building its index" : trace.live ? "still growing" : "complete"]];
    this.node.replaceChildren(
      element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element("h2", {}, "Losses"), ...this.#losses(), element("h2", {}, "Colours"), legend(trace));
  }

  #losses() {
    const {lost} = this.trace, told = [];
    if (lost.events)
      told.push(`${lost.events.toLocaleString("en")} events were discarded by the guest.`);
    if (lost.packets)
      told.push(`${lost.packets.toLocaleString("en")} packets are missing.`);
    if (lost.damaged)
      told.push(`${lost.damaged.toLocaleString("en")} packets are damaged.`);
    if (lost.cut)
      told.push("A file is truncated.");
    if (lost.before)
      told.push("Events were lost before the start of the trace.");
    if (lost.unfinished)
      told.push("The pull ended early: losses after the last packets are unknown.");
    if (told.length === 0)
      return [element("p", {class: "note"}, "None.")];
    return [...told.map((text) => element("p", {class: "warning"}, text)),
            element("p", {class: "note"}, "A CPU's lane is striped where it is unknown what the CPU did.")];
  }
}
