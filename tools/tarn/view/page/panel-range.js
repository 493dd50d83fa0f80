// The tab with the analyses of `tarn NAME` for the selected range, or for the view without a selection.
import {Latest, ask, wasAborted} from "./api.js";
import {element, options} from "./element.js";
import {Tab} from "./panel.js";
import {makeTable, momentOf} from "./table.js";
import {formatSpan, formatTime} from "./time.js";

const SETTLED = 300; // ms without a change before a walk is requested
const MOST = 1000; // rows of a table
const FLAME = {name: "flame", summary: "the profile as a flame graph", tables: []};

// Returns whether the result for one wish is useless for the other. A view that follows a live trace moves all the time, so
// slightly different ranges are acceptable.
function isOther(current, wish) {
  const moved = Math.abs(current.from - wish.from) + Math.abs(current.to - wish.to);
  return current.question !== wish.question || moved > (current.to - current.from) / 10;
}

// The server's picture, which has a script of its own.
function flameOf(from, to) {
  const src = `/api/analysis?name=profile&flame&from=${from}&to=${to}`;
  return [element("a", {href: src, target: "_blank"}, "in a window of its own"), element("iframe", {src, title: "flame graph", class: "flame"})];
}

export class RangePanel extends Tab {
  title = "Range";
  #call = null; // ID of the call that is followed through all processes
  #shown = "";
  #timer = 0;
  #wish = null;
  #asking = new Latest((wish, signal) => this.#load(wish, signal), isOther);

  build() {
    this.state.on(["selection", "from", "to", "duration"], () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.show(), SETTLED);
    });
    this.analyses = this.trace.analyses.flatMap((analysis) => (analysis.name === "profile" ? [analysis, FLAME] : [analysis]));
    this.choice = element("div", {class: "analyses", role: "radiogroup", "aria-label": "analysis"},
      ...this.analyses.map(({name, summary}, i) =>
        element("label", {title: summary}, element("input", {type: "radio", name: "analysis", value: name, checked: i === 0}),
                                          name === "flame" ? "flame graph" : name)));
    this.choice.addEventListener("change", () => this.#offer());
    this.head = element("p", {class: "range-head"});
    this.by = element("select", {"aria-label": "tables", change: () => this.show()});
    this.back = element("button", {click: () => this.#follow(null)}, "← all calls");
    this.tables = element("div", {class: "tables"});
    this.node.append(this.choice, element("div", {class: "tools range-tools"}, this.head, this.back, this.by), this.tables);
    this.#offer();
  }

  get #name() {
    return this.choice.querySelector(":checked")?.value ?? "stats";
  }

  #tablesOf(analysis) {
    return this.analyses.find(({name}) => name === analysis).tables;
  }

  // Lists the tables of the selected analysis.
  #offer() {
    this.by.replaceChildren(...options("default tables", [["all", "all tables"],
      ...this.#tablesOf(this.#name).map(({key, help}) => [key, key.replaceAll("-", " "), help])]));
    this.#follow(null);
  }

  #follow(id) {
    this.#call = id;
    this.show();
  }

  get #range() {
    const {selection, from, to} = this.state;
    return selection ?? {from: Math.round(from), to: Math.round(to)};
  }

  show() {
    if (!this.isShown)
      return;
    const {from, to} = this.#range, name = this.#name, by = this.#call ? "" : this.by.value;
    const question = `${name} ${by} ${this.#call}`, key = `${question} ${from} ${to} ${this.trace.version}`;
    this.by.hidden = this.#call !== null || this.by.options.length < 4; // only one table: nothing to choose
    this.back.hidden = this.#call === null;
    if (key === this.#shown)
      return;
    this.#shown = key;
    this.head.textContent = `${this.state.selection ? "Selected" : "In the view"}: ${formatSpan(to - from)}, ` +
                            `${formatTime(from, (to - from) / 100)} – ${formatTime(to, (to - from) / 100)}`;
    this.tables.classList.add("old");
    this.#wish = {name, question, by, call: this.#call, from, to, key};
    this.#asking.want(this.#wish);
  }

  async #load(wish, signal) {
    const {name, by, call, from, to} = wish;
    let nodes;
    try {
      nodes = name === "flame" ? flameOf(from, to)
        : this.#tables((await ask("analysis", {name, from, to, top: MOST, by: by || undefined, request: call}, signal)).analysis);
    } catch (error) {
      if (wasAborted(error))
        throw error;
      nodes = [element("p", {class: "note"}, error.message)];
    }
    if (isOther(wish, this.#wish))
      return;
    this.tables.replaceChildren(...nodes);
    this.tables.classList.toggle("old", wish.key !== this.#shown);
  }

  #tables(analysis) {
    const nodes = [], lost = analysis.lost_events ?? 0;
    if (lost || analysis.lost_packets)
      nodes.push(element("p", {class: "warning"}, `${lost.toLocaleString("en")} events were lost in this trace.`));
    if (analysis.events !== undefined)
      nodes.push(element("p", {class: "note"}, `${analysis.events.toLocaleString("en")} events`));
    if (analysis.answer)
      nodes.push(element("p", {class: "note"}, analysis.answer));
    for (const table of this.#tablesOf(analysis.analysis)) {
      const rows = analysis.tables[table.key] ?? [];
      if (rows.length)
        nodes.push(makeTable(table, rows, this.#link(table, rows[0], analysis)));
    }
    return nodes.length ? nodes : [element("p", {class: "note"}, this.#call ? "The call is only partly in this range."
                                                                            : "Nothing in this range.")];
  }

  // The action of a row: go to its time, thread or CPU; for a call, also follow it. Times of a followed call's steps are
  // relative to its start.
  #link(table, row, {analysis: name, tables}) {
    const follows = name === "ipc" && row.id !== undefined, begin = row.after_ns === undefined ? undefined : tables.request[0].at_ns;
    const when = (chosen) => (begin === undefined ? momentOf(table, chosen) : begin + chosen.after_ns);
    if (row.tid === undefined && row.cpu === undefined && when(row) === null)
      return null;
    return {title: follows ? "go there and follow this call" : "go there", act: (chosen) => {
      this.#showLaneOf(chosen);
      if (when(chosen) !== null)
        this.page.goTo(when(chosen));
      if (follows)
        this.#follow(chosen.id);
    }};
  }

  #showLaneOf({tid, cpu}) {
    const thread = this.trace.byTid.get(tid), processor = this.trace.cpus.find((one) => one.cpu === cpu);
    if (thread)
      this.page.showLane("t" + thread.n);
    else if (processor && tid === undefined)
      this.page.showLane("c" + processor.rank);
  }
}
