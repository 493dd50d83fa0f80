// SPDX-License-Identifier: BSD-2-Clause
// The answers of `tarn NAME` for the selected range, or for the view while nothing is selected.
import {Latest, ask, wasAborted} from "./api.js";
import {element} from "./element.js";
import {FlameGraph} from "./flame.js";
import {makeTable} from "./table.js";
import {formatSpan, formatTime} from "./time.js";

const SETTLED = 300; // ms without a change, before a walk is asked for
const PATIENCE = 600; // ms, before it is shown how far a walk is, and between two looks
const MOST = 1000; // rows of a table
// Those that are asked for most come first.
const USUAL = ["stats", "breakdown", "locks", "profile", "flame", "sched", "ipc", "syscalls", "faults", "irq", "threads", "processes", "noise"];

const millions = (events) => (events / 1e6).toFixed(1);

// Whether the answer to one wish is of no use to who has the other. A view that follows a live trace moves all the time: what
// it asks for a moment later is nearly the same.
function isOther(current, wish) {
  const moved = Math.abs(current.from - wish.from) + Math.abs(current.to - wish.to);
  return current.name !== wish.name || moved > (current.to - current.from) / 10;
}

export class RangePanel {
  title = "Range";
  #shown = "";
  #timer = 0;
  #wish = null;
  #asking = new Latest((wish, signal) => this.#load(wish, signal), isOther);

  constructor(parts) {
    Object.assign(this, parts); // trace, state
    this.state.on(["selection", "from", "to", "duration"], () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.show(), SETTLED);
    });
  }

  build() {
    const known = [...this.trace.answers, {name: "flame", summary: "the profile as a flame graph"}];
    const order = (answer) => (USUAL.indexOf(answer.name) + 1) || 99;
    this.choice = element("div", {class: "answers", role: "radiogroup", "aria-label": "question"},
      ...known.sort((a, b) => order(a) - order(b)).map(({name, summary}, i) =>
        element("label", {title: summary}, element("input", {type: "radio", name: "answer", value: name, checked: i === 0}),
                                          name === "flame" ? "flame graph" : name)));
    this.choice.addEventListener("change", () => this.show());
    this.head = element("p", {class: "range-head"});
    this.progress = element("p", {class: "note", role: "status", hidden: true});
    this.tables = element("div", {class: "tables"});
    this.node.append(this.choice, this.head, this.progress, this.tables);
  }

  get #range() {
    const {selection, from, to} = this.state;
    return selection ?? {from: Math.round(from), to: Math.round(to)};
  }

  show() {
    if (this.node.hidden || !this.state.panel)
      return;
    const {from, to} = this.#range, name = this.choice.querySelector(":checked")?.value ?? "stats";
    const key = `${name} ${from} ${to} ${this.trace.version}`;
    if (key === this.#shown)
      return;
    this.#shown = key;
    this.head.textContent = `${this.state.selection ? "Selected" : "In the view"}: ${formatSpan(to - from)}, ` +
                            `${formatTime(from, (to - from) / 100)} – ${formatTime(to, (to - from) / 100)}`;
    this.tables.classList.add("old");
    this.#wish = {name, from, to, key};
    this.#asking.want(this.#wish);
  }

  async #load(wish, signal) {
    const {name, from, to} = wish, job = 1 + Math.floor(Math.random() * 2 ** 48), stop = this.#watch(job);
    let nodes;
    try {
      nodes = name === "flame" ? [new FlameGraph(await ask("flame", {from, to, job}, signal), `/api/flame?from=${from}&to=${to}`).node]
        : this.#tables((await ask("answer", {name, from, to, top: MOST, job}, signal)).answer);
    } catch (error) {
      if (wasAborted(error))
        throw error;
      nodes = [element("p", {class: "note"}, error.message)];
    } finally {
      stop();
    }
    if (isOther(wish, this.#wish))
      return;
    this.tables.replaceChildren(...nodes);
    this.tables.classList.toggle("old", wish.key !== this.#shown);
  }

  // Shows how far a walk is that takes long. Returns what ends that.
  #watch(job) {
    const bar = element("progress"), text = element("span");
    let timer = 0, done = false;
    const look = async () => {
      const {done: walked, total} = await ask("progress", {job}).catch(() => ({total: 0}));
      if (done)
        return;
      if (total) {
        bar.value = Math.min(1, walked / total);
        text.textContent = ` ${millions(walked)} of ${millions(total)} million events; another range or question stops it`;
        this.progress.replaceChildren(bar, text);
        this.progress.hidden = false;
      }
      timer = setTimeout(look, PATIENCE);
    };
    timer = setTimeout(look, PATIENCE);
    return () => {
      done = true;
      clearTimeout(timer);
      this.progress.hidden = true;
    };
  }

  #tables(answer) {
    const nodes = [], lost = answer.lost_events ?? 0;
    if (lost || answer.lost_packets)
      nodes.push(element("p", {class: "warning"}, `${lost.toLocaleString("en")} events were lost in this trace.`));
    if (answer.events !== undefined)
      nodes.push(element("p", {class: "note"}, `${answer.events.toLocaleString("en")} events`));
    for (const [title, rows] of Object.entries(answer.tables ?? {}))
      if (rows.length)
        nodes.push(makeTable(title.replaceAll("_", " "), rows, this.#action(rows[0])));
    return nodes.length ? nodes : [element("p", {class: "note"}, "Nothing of that in this range.")];
  }

  // A row that names a thread or a processor chooses its lane.
  #action(row) {
    if (row.tid === undefined && row.cpu === undefined)
      return null;
    return (chosen) => {
      const thread = this.trace.byTid.get(chosen.tid), cpu = this.trace.cpus.find((c) => c.cpu === chosen.cpu);
      if (thread)
        this.showLane("t" + thread.n);
      else if (cpu && chosen.tid === undefined)
        this.showLane("c" + cpu.rank);
    };
  }
}
