// SPDX-License-Identifier: BSD-2-Clause
// How many events of each kind the view holds, and where those are that are marked.
import {Latest, ask, ranges} from "./api.js";

const FEW = 400; // marked events in the view: then each is shown on its lanes, too

export class Counts {
  marks = null; // {from, to, width, byName: Map of {count, times or pixels}}
  rows = []; // marked events, when they are few
  #all = null; // Map by name, while the panel wants them
  #asking;
  #askingAll;

  constructor(trace, state, rows) {
    Object.assign(this, {trace, state, layout: rows});
    this.onChange = () => {};
    this.#asking = new Latest((wish, signal) => this.#load(wish, signal));
    this.#askingAll = new Latest((wish, signal) => this.#loadAll(wish, signal));
  }

  get indexes() {
    return [...this.state.marks.keys()].map((name) => this.trace.eventNames.get(name)?.index).filter((index) => index !== undefined);
  }

  follow(wantsAll) {
    const {from, to} = this.state;
    if (this.state.marks.size)
      this.#asking.want({from, to, width: Math.max(1, Math.round(this.layout.width)), indexes: this.indexes});
    else if (this.marks) {
      this.marks = null;
      this.rows = [];
      this.onChange();
    }
    if (wantsAll)
      this.#askingAll.want({from, to});
  }

  async #load({from, to, width, indexes}, signal) {
    const answer = await ask("marks", {from, to, width, events: ranges(indexes) || "none"}, signal);
    const few = answer.marks.reduce((sum, mark) => sum + mark.count, 0) <= FEW;
    this.marks = {from: answer.from, to: answer.to, width: answer.width,
                  byName: new Map(answer.marks.map((mark) => [this.trace.events[mark.event].name, mark]))};
    this.onChange();
    // After the last one nothing is looked for: an event of the far end of the trace would cost a walk there.
    const rows = few && indexes.length && answer.marks.some((mark) => mark.count)
      ? (await ask("list", {at: from, after: FEW, events: ranges(indexes), to}, signal)).rows : [];
    this.rows = rows.filter((row) => row.t >= from && row.t < to);
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
