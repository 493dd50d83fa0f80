// The tab about the trace (source, size, legend), and the help: all keys, from the table that handles them.
import {closing, element} from "./element.js";
import {Tab} from "./panel.js";
import {formatSpan} from "./time.js";

const legend = ({styles}) => element("div", {class: "legend-list"}, ...styles.map(({property, shape, name}) =>
  element("div", {class: "legend-line"}, element("i", {class: `legend-box ${shape} ${property}`, style: `--color: var(--${property})`}), name)));

export class AboutPanel extends Tab {
  title = "Trace";

  show() {
    const {trace, state} = this, count = (n) => n.toLocaleString("en");
    const begin = new Date(Number(BigInt(trace.begin_clock_ns) / 1000000n));
    const facts = [["Trace", trace.name], ["Machine", `${trace.arch}, ${trace.cpus.length} CPUs`],
                   ["Begin", isNaN(begin) ? trace.begin_clock_ns : begin.toISOString().replace("T", " ").replace("Z", " UTC")],
                   ["Length", formatSpan(state.duration)], ["Events", count(trace.events_total)],
                   ["Processes", count(trace.process_count)], ["Threads", count(trace.threads.filter((t) => !t.idle).length)],
                   ["State", trace.indexing ? "building its index" : trace.live ? "still growing"
                             : trace.lost.reports ? "ended; what is missing or damaged is above the lanes" : "complete"]];
    this.node.replaceChildren(
      element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element("h2", {}, "Colours"), legend(trace),
      element("p", {class: "note"}, "A lane is striped where events that would show its state are missing."));
  }
}

const SHOWN = {ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "Page ↑", PageDown: "Page ↓", Escape: "Esc"};
const POINTER = [["wheel", "zoom at the pointer"], ["⇧ wheel", "pan; also two fingers sideways"], ["Alt wheel", "scroll the lanes; also wheel over the names"],
                 ["drag", "pan"], ["drag ruler", "select a range; also ⇧ drag"], ["click", "set the cursor and list the events around it"],
                 ["double click", "fit this box into the view"], ["right click", "on an event in a list: open the machine at that moment"],
                 ["overview", "drag the view or its edges; drag beside it to select another view"]];

export function makeHelp(dialog, table) {
  const line = (keys, what) => element("div", {}, element("span", {}, ...keys.flatMap((key) => [element("kbd", {}, SHOWN[key] ?? key), " "])), what);
  dialog.append(element("form", {method: "dialog"}, element("h2", {id: "help-title"}, "Keys and pointer"),
                        element("button", {autofocus: true, "aria-label": "close"}, "✕")),
                element("div", {class: "keys"}, ...POINTER.map(([key, what]) => line([key], what)),
                        ...table.map(([keys, what]) => line(keys.filter((key) => key !== "="), what))));
  closing(dialog);
}
