// SPDX-License-Identifier: BSD-2-Clause
// A growing trace: the server reports changes, and the view stays at the end if it follows.
import {ask, reportFailure} from "./api.js";

const PAUSE = 250; // ms between updates of the picture
const RETRY = 2000;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export class Live {
  // grown(before): the trace has grown; replaced(): it is another trace, with other numbers.
  // status: gets the state of the link. follows: stay at the end if the trace turns out to grow; waits: go to the busiest range
  // if it does not.
  constructor(trace, state, {grown, replaced, status, follows, waits}) {
    Object.assign(this, {trace, state, grown, replaced, status, follows, waits});
  }

  // Never returns.
  async run() {
    this.#begin();
    for (let since = this.trace.version;;) {
      try {
        const news = await ask("changes", {since});
        if (news.link.boots !== this.trace.link.boots)
          this.follows = true; // the next boot
        this.status.take(news.link);
        if (news.version !== since)
          await this.#take(news);
        since = news.version;
        await wait(PAUSE);
      } catch (error) {
        reportFailure(error);
        since = undefined; // a server that is back replies at once
        await wait(RETRY);
      }
    }
  }

  #begin() {
    if (this.follows && this.trace.live) {
      this.follows = this.waits = false; // from now on the user decides
      this.state.change({follow: true});
    }
  }

  async #take(news) {
    const {state, trace} = this, before = trace.duration, generation = trace.generation;
    trace.take(await ask("trace"));
    const wasWhole = state.from <= 0 && state.to >= before;
    if (trace.generation !== generation)
      this.replaced();
    this.grown(before);
    this.#begin();
    this.#move(before, wasWhole);
    if (this.waits && trace.isReady && !trace.live) {
      this.waits = false;
      if (state.from <= 0 && state.to >= state.duration)
        state.show(trace.busy.from, trace.busy.to);
    }
  }

  // Updates the view after the trace has grown.
  #move(before, wasWhole) {
    const {state, trace} = this;
    if (trace.duration === before)
      return;
    // A trace that is read again is shorter for a while.
    const end = trace.indexing ? Math.max(trace.duration, state.to) : trace.duration;
    if (state.follow)
      state.change({duration: end, from: Math.max(0, end - state.span), to: Math.max(end, Math.min(state.span, end))});
    else if (wasWhole)
      state.change({duration: end, from: 0, to: end});
    else if (state.to > end) // the trace has become shorter
      state.change({duration: end, from: Math.max(0, end - state.span), to: end});
    else
      state.change({duration: end});
  }
}
