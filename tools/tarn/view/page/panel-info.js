// SPDX-License-Identifier: BSD-2-Clause
// The trace as a whole: where it is from, how large, what was lost; and what the colours mean.
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
    const facts = [["Trace", trace.name], ["Machine", `${trace.arch}, ${trace.cpus.length} processors`],
                   ["Begin", isNaN(begin) ? trace.begin_clock_ns : begin.toISOString().replace("T", " ").replace("Z", " UTC")],
                   ["Length", formatSpan(state.duration)], ["Events", count(trace.events_total)],
                   ["Processes", count(trace.processes.size)], ["Threads", count(trace.threads.filter((t) => !t.idle).length)],
                   ["State", trace.indexing ? "its index is being made" : trace.live ? "still growing" : "complete"]];
    this.node.replaceChildren(
      element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element("h2", {}, "Losses"), ...this.#losses(), element("h2", {}, "Colours"), legend());
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
      told.push("The end of a file is cut off.");
    if (lost.before)
      told.push("Something was lost before the trace begins.");
    if (lost.unfinished)
      told.push("The pull ended early: what was lost after the last packets is not known.");
    if (told.length === 0)
      return [element("p", {class: "note"}, "None.")];
    return [...told.map((text) => element("p", {class: "warning"}, text)),
            element("p", {class: "note"}, "Where nobody knows what a processor did, its lane is striped.")];
  }
}
