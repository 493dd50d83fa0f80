// SPDX-License-Identifier: BSD-2-Clause
// Counts of each event type in the view, and the positions and lanes of marked events.
import {Latest, ask, ranges} from "./api.js";
import {WIDEST} from "./data.js";

export const FLAG = 3; // stride of a lane's flags: time, event, count
const GRAIN = 2; // pixels per flag

export class Counts {
  marks = null; // {from, to, width, byName: Map of {count, times or pixels}}
  flags = new Map(); // by lane key
  areTooMany = false; // too many events in the view to find the lanes of marked ones
  #all = null; // Map by name, while the panel needs them
  #asking;
  #askingFlags;
  #askingAll;

  constructor(trace, state, rows) {
    Object.assign(this, {trace, state, layout: rows});
    this.onChange = () => {};
    this.#asking = new Latest((wish, signal) => this.#load(wish, signal));
    this.#askingFlags = new Latest((wish, signal) => this.#loadFlags(wish, signal));
    this.#askingAll = new Latest((wish, signal) => this.#loadAll(wish, signal));
  }

  get indexes() {
    return [...this.state.marks.keys()].map((name) => this.trace.eventNames.get(name)?.index).filter((index) => index !== undefined);
  }

  follow(wantsAll) {
    const {from, to} = this.state;
    if (this.state.marks.size)
      this.#asking.want({from, to, width: Math.min(WIDEST, Math.max(1, Math.round(this.layout.width))), indexes: this.indexes});
    else if (this.marks) {
      this.marks = null;
      this.#takeFlags(new Map(), false);
      this.onChange();
    }
    if (wantsAll)
      this.#askingAll.want({from, to});
  }

  async #load({from, to, width, indexes}, signal) {
    const reply = await ask("marks", {from, to, width, events: ranges(indexes) || "none"}, signal);
    this.marks = {from: reply.from, to: reply.to, width: reply.width,
                  byName: new Map(reply.marks.map((mark) => [this.trace.events[mark.event].name, mark]))};
    this.onChange();
    this.followLanes();
  }

  // Call this when the view or the lanes have changed. Marks that occur nowhere are not requested.
  followLanes() {
    const numbers = (kind, key) => this.layout.lanes.filter((row) => row.kind === kind).map((row) => row[key]);
    if (!this.marks || ![...this.marks.byName.values()].some((mark) => mark.count)) {
      this.#takeFlags(new Map(), false);
      return;
    }
    const {from, to} = this.marks;
    this.#askingFlags.want({from, to, width: Math.ceil(this.marks.width / GRAIN), events: ranges(this.indexes) || "none",
                            cpus: ranges(numbers("cpu", "rank")), threads: ranges(numbers("thread", "n"))});
  }

  async #loadFlags(wish, signal) {
    const reply = await ask("flags", wish, signal);
    this.#takeFlags(new Map([...reply.cpus.map((lane) => ["c" + lane.rank, lane.flags]),
                             ...reply.threads.map((lane) => ["t" + lane.n, lane.flags])]), !reply.exact);
  }

  #takeFlags(flags, areTooMany) {
    const hasChanged = flags.size > 0 || this.flags.size > 0 || areTooMany !== this.areTooMany;
    Object.assign(this, {flags, areTooMany});
    if (hasChanged)
      this.onChange();
  }

  async #loadAll({from, to}, signal) {
    const reply = await ask("marks", {from, to, width: 1}, signal);
    this.#all = new Map(reply.marks.map((mark) => [this.trace.events[mark.event].name, mark.count]));
    this.onChange();
  }

  count(name) {
    return this.marks?.byName.get(name)?.count ?? this.#all?.get(name);
  }

  countOfAll(name) {
    return this.#all?.get(name) ?? this.marks?.byName.get(name)?.count;
  }
}
