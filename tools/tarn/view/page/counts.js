// SPDX-License-Identifier: BSD-2-Clause
// How many events of each type are in the view.
import {Latest, ask} from "./api.js";

export class Counts {
  #counts = []; // by the type's index
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  constructor(trace, state) {
    Object.assign(this, {trace, state, onChange: () => {}});
  }

  // isNeeded: although nothing is marked.
  follow(isNeeded) {
    const {from, to, marks} = this.state;
    if (marks.size || isNeeded)
      this.#asking.want({from, to, limit: 0});
  }

  async #load(wish, signal) {
    this.#counts = (await ask("rows", wish, signal)).counts;
    this.onChange();
  }

  count(name) {
    return this.#counts[this.trace.eventNames.get(name)?.index];
  }
}
