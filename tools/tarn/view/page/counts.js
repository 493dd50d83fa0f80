// SPDX-License-Identifier: BSD-2-Clause
// How many events of each type are in the view, and where marked ones are.
import {Latest, ask} from "./api.js";
import {WIDEST} from "./data.js";

export class Counts {
  marks = null; // {from, to, width, counts by index, byName: Map of the pixels of marked events}
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  constructor(trace, state, rows) {
    Object.assign(this, {trace, state, layout: rows, onChange: () => {}});
  }

  // isNeeded: although nothing is marked.
  follow(isNeeded) {
    const {from, to, marks} = this.state, width = Math.min(WIDEST, Math.max(1, Math.round(this.layout.width)));
    if (marks.size || isNeeded)
      this.#asking.want({from, to, width, events: this.trace.eventIndexes(marks.keys()) || "none"});
  }

  async #load(wish, signal) {
    const reply = await ask("marks", wish, signal);
    this.marks = {...reply, byName: new Map(reply.marks.map((mark) => [this.trace.events[mark.event].name, mark.pixels]))};
    this.onChange();
  }

  count(name) {
    return this.marks?.counts[this.trace.eventNames.get(name)?.index];
  }
}
