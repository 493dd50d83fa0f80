// The strip above the lanes: the state of the link to the guest, and everything that is missing or damaged in the trace.
import {element} from "./element.js";
import {formatSpan} from "./time.js";

export class Status {
  #shown = "";
  #heard = null; // when something came from the guest: performance.now()

  constructor(node, trace) {
    Object.assign(this, {node, trace});
    setInterval(() => this.update(), 500); // the time without a word grows
  }

  // The server's latest word on the link.
  take(link) {
    this.trace.link = link;
    this.#heard = performance.now() - link.silent_ms;
    this.update();
  }

  update() {
    const {link, lost} = this.trace, [isBad, state] = this.#link(link);
    const texts = [...lost.texts, ...(lost.reports > lost.texts.length
      ? [`${(lost.reports - lost.texts.length).toLocaleString("en")} more: tarn check lists them`] : [])];
    const found = lost.reports ? `${lost.reports === 1 ? "A loss or defect" : `${lost.reports.toLocaleString("en")} losses or defects`}:` : "Nothing is missing or damaged.";
    const key = [state, found, ...texts].join("\n");
    if (key === this.#shown)
      return;
    this.#shown = key;
    this.node.classList.toggle("alarmed", isBad || texts.length > 0);
    this.node.replaceChildren(element("div", {}, element("b", {class: isBad ? "bad" : ""}, state), ` ${found}`),
                              ...texts.map((text) => element("div", {class: "finding"}, text)));
  }

  // Whether something is wrong with the link, and its state in words.
  #link({state, boots}) {
    const {trace} = this, boot = boots > 0 ? ` This is boot ${boots + 1} of the guest since this page's server began.` : "";
    const since = formatSpan(Math.max(0, Math.round((performance.now() - (this.#heard ?? performance.now())) / 100) * 1e8));
    const usual = trace.indexing ? "The index is being made." : trace.live ? "The trace grows." : "The trace has ended.";
    const bad = {silent: `No word from the guest for ${since}: it is stopped, resetting, or its host is busy.`,
                 broken: "The link to the guest broke; connecting again.", restarted: "The guest was reset; waiting for its next boot."}[state];
    return [bad !== undefined, (bad ?? (state === "following" ? "Following the guest." : usual)) + boot];
  }
}
