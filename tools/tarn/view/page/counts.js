// SPDX-License-Identifier: BSD-2-Clause
// How many events of each type are in the view, and where marked ones are.
import {Latest, ask} from "./api.js";
import {WIDEST} from "./data.js";

export class Counts {
  marks = null; // {from, to, width, byName: Map of {count, pixels}}
  #all = null; // Map of counts by name, while the panel needs them
  #asking = new Latest((wish, signal) => this.#load(wish, signal));
  #askingAll = new Latest((wish, signal) => this.#loadAll(wish, signal));

  constructor(trace, state, rows) {
    Object.assign(this, {trace, state, layout: rows, onChange: () => {}});
  }

  follow(wantsAll) {
    const {from, to, marks} = this.state, width = Math.min(WIDEST, Math.max(1, Math.round(this.layout.width)));
    if (marks.size) {
      this.#asking.want({from, to, width, events: this.trace.eventIndexes(marks.keys()) || "none"});
    } else if (this.marks) {
      this.marks = null;
      this.onChange();
    }
    if (wantsAll)
      this.#askingAll.want({from, to, width: 1});
  }

  #byName(reply, what) {
    return new Map(reply.marks.map((mark) => [this.trace.events[mark.event].name, what(mark)]));
  }

  async #load(wish, signal) {
    const reply = await ask("marks", wish, signal);
    this.marks = {...reply, byName: this.#byName(reply, (mark) => mark)};
    this.onChange();
  }

  async #loadAll(wish, signal) {
    this.#all = this.#byName(await ask("marks", wish, signal), ({count}) => count);
    this.onChange();
  }

  count(name) {
    return this.marks?.byName.get(name)?.count ?? this.#all?.get(name);
  }

  countOfAll(name) {
    return this.#all?.get(name) ?? this.marks?.byName.get(name)?.count;
  }
}
