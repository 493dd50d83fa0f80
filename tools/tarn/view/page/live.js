// SPDX-License-Identifier: BSD-2-Clause
// A trace that grows: the server is asked to wait for news, and the view stays at the end if it shall follow.
import {ask, reportFailure} from "./api.js";

const PAUSE = 250; // ms: the picture changes no more often than this
const RETRY = 2000;
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

export class Live {
  // grown(before): there is more; replaced(): it is another trace, in which no number means what it did.
  // follows: whether the view is to stay at the end once it is known that the trace grows; waits: whether it is to go where it
  // happened once it is known that it does not.
  constructor(trace, state, {grown, replaced, follows, waits}) {
    Object.assign(this, {trace, state, grown, replaced, follows, waits});
  }

  // Never returns.
  async run() {
    this.#begin();
    for (let since = this.trace.version;;) {
      try {
        const news = await ask("changes", {since});
        if (news.version !== since)
          await this.#take(news);
        since = news.version;
        await wait(PAUSE);
      } catch (error) {
        reportFailure(error);
        since = undefined; // one that comes back tells at once
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

  // What is seen of a trace that has grown.
  #move(before, wasWhole) {
    const {state, trace} = this;
    if (trace.duration === before)
      return;
    // One that is read anew is shorter for a while, and reaches where it did before.
    const end = trace.indexing ? Math.max(trace.duration, state.to) : trace.duration;
    if (state.follow)
      state.change({duration: end, from: Math.max(0, end - state.span), to: Math.max(end, Math.min(state.span, end))});
    else if (wasWhole)
      state.change({duration: end, from: 0, to: end});
    else if (state.to > end) // it has become shorter
      state.change({duration: end, from: Math.max(0, end - state.span), to: end});
    else
      state.change({duration: end});
  }
}
