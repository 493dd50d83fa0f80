// SPDX-License-Identifier: BSD-2-Clause
// How many events of each kind the view holds, where those are that are marked, and on which lanes.
import {Latest, ask, ranges} from "./api.js";
import {WIDEST} from "./data.js";

export const FLAG = 3; // time, event, count: stride of a lane's flags
const GRAIN = 2; // pixels that share a flag

export class Counts {
  marks = null; // {from, to, width, byName: Map of {count, times or pixels}}
  flags = new Map(); // by key of the lane
  areTooMany = false; // events in the view, to tell on which lanes those lie that are marked
  #all = null; // Map by name, while the panel wants them
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
    const answer = await ask("marks", {from, to, width, events: ranges(indexes) || "none"}, signal);
    this.marks = {from: answer.from, to: answer.to, width: answer.width,
                  byName: new Map(answer.marks.map((mark) => [this.trace.events[mark.event].name, mark]))};
    this.onChange();
    this.followLanes();
  }

  // When the view or the lanes have changed. Of marks that are nowhere nothing is asked.
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
    const answer = await ask("flags", wish, signal);
    this.#takeFlags(new Map([...answer.cpus.map((lane) => ["c" + lane.rank, lane.flags]),
                             ...answer.threads.map((lane) => ["t" + lane.n, lane.flags])]), !answer.exact);
  }

  #takeFlags(flags, areTooMany) {
    const hasChanged = flags.size > 0 || this.flags.size > 0 || areTooMany !== this.areTooMany;
    Object.assign(this, {flags, areTooMany});
    if (hasChanged)
      this.onChange();
  }

  async #loadAll({from, to}, signal) {
    const answer = await ask("marks", {from, to, width: 1}, signal);
    this.#all = new Map(answer.marks.map((mark) => [this.trace.events[mark.event].name, mark.count]));
    this.onChange();
  }

  count(name) {
    return this.marks?.byName.get(name)?.count ?? this.#all?.get(name);
  }

  countOfAll(name) {
    return this.#all?.get(name) ?? this.marks?.byName.get(name)?.count;
  }
}
