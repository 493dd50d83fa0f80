// A growing trace: the page asks for changes, and the view stays at the end if it follows.
import {ask, reportFailure} from "./api.js";

const PAUSE = 250; // ms between questions
const RARELY = 2000; // about a trace that has ended, or to a server that is gone

export class Live {
  #isAsking = false;
  #next = 0; // the time of the next question: performance.now()

  // grown(before): the trace has grown; replaced(): it is another trace, with other numbers.
  // status: gets the state of the link. follows: stay at the end if the trace turns out to grow; waits: go to the busiest range
  // if it does not.
  constructor(trace, state, {grown, replaced, status, follows, waits}) {
    Object.assign(this, {trace, state, grown, replaced, status, follows, waits});
  }

  run() {
    this.#begin();
    setInterval(() => this.#isAsking || performance.now() < this.#next || this.#ask(), PAUSE);
  }

  async #ask() {
    const {trace} = this;
    this.#isAsking = true;
    try {
      const news = await ask("changes");
      if (news.link.boots !== trace.link.boots)
        this.follows = true; // the next boot
      this.status.take(news.link);
      if (news.version !== trace.version)
        await this.#take(news);
      this.#next = news.live || news.indexing || news.link.state ? 0 : performance.now() + RARELY;
    } catch (error) {
      reportFailure(error);
      trace.version = null; // it may have changed when the server is back
      this.#next = performance.now() + RARELY;
    }
    this.#isAsking = false;
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
    if (wasWhole && !state.follow)
      state.change({duration: end, from: 0, to: end});
    else if (state.follow || state.to > end) // the trace has become shorter
      state.change({duration: end, from: Math.max(0, end - state.span), to: end});
    else
      state.change({duration: end});
  }
}
