// SPDX-License-Identifier: BSD-2-Clause
// The search tab: finds events by text, type, field and value, lists them, and goes to them.
import {Latest, wasAborted} from "./api.js";
import {element} from "./element.js";
import {eventRow, findEvent, formatProgress, laneChoice, searchPlace} from "./events.js";

export class SearchPanel {
  title = "Search";
  #looksFor = ""; // the query of the listed events
  #asking = new Latest((wish, signal) => this.#search(wish, signal), () => true);

  constructor(parts) {
    Object.assign(this, parts); // trace, state, colors, goToEvent
    this.state.on(["cursor"], () => this.#tell("")); // messages refer to the previous cursor
  }

  build() {
    this.text = element("input", {type: "search", placeholder: "Text: event, thread, value", "aria-label": "text"});
    this.kind = element("select", {"aria-label": "event"});
    this.field = element("select", {"aria-label": "field"});
    this.value = element("input", {placeholder: "value", "aria-label": "value", size: 10});
    this.lane = element("input", {type: "checkbox"});
    this.status = element("p", {class: "note", role: "status"});
    this.progress = element("progress");
    this.stopper = element("button", {type: "button", click: () => this.stop()}, "Stop");
    this.node.addEventListener("input", () => this.#tell(""));
    this.found = element("div", {class: "events", role: "grid", tabindex: 0, "aria-label": "found events"});
    this.node.append(element("form", {class: "tools", submit: (event) => {
      event.preventDefault();
      this.find("next");
    }}, this.text, element("button", {type: "button", title: "previous", "aria-label": "previous", click: () => this.find("previous")}, "↑"),
      element("button", {type: "submit", title: "next", "aria-label": "next"}, "↓"), this.kind, this.field, this.value,
      element("label", {}, this.lane, " this lane")), this.status, this.found);
    this.kind.addEventListener("change", () => this.#fields());
    this.fill();
    this.found.addEventListener("click", (event) => {
      const row = event.target.closest(".event");
      if (row)
        this.goToEvent(row.event);
    });
  }

  show() {}

  focus() {
    this.text.focus();
    this.text.select();
  }

  // Lists the event types that the trace declares.
  fill() {
    this.kind.replaceChildren(element("option", {value: ""}, "any event"),
      ...[...this.trace.events].sort((a, b) => a.name.localeCompare(b.name))
        .map((event) => element("option", {value: event.index}, event.name)));
    this.#fields();
  }

  #fields() {
    const event = this.trace.events[Number(this.kind.value)];
    const names = this.kind.value !== "" ? event.fields : [...new Set(this.trace.events.flatMap((e) => e.fields))].sort();
    this.field.replaceChildren(element("option", {value: ""}, "any field"), ...names.map((name) => element("option", {value: name}, name)));
  }

  get #choice() {
    return {text: this.text.value.trim() || undefined, events: this.kind.value || undefined, field: this.field.value || undefined,
            value: (this.field.value && this.value.value.trim()) || undefined,
            ...(this.lane.checked ? laneChoice(this.trace, this.state.lane) : {})};
  }

  find(direction, text = undefined) {
    if (text !== undefined)
      this.text.value = text;
    this.#asking.want({direction, choice: this.#choice});
  }

  // Returns whether a search was running.
  stop() {
    const isLooking = this.#asking.isBusy;
    this.#asking.stop();
    return isLooking;
  }

  #tell(...what) {
    this.status.replaceChildren(...what);
  }

  #showProgress(done, total) {
    this.progress.value = total > 0 ? done / total : 0;
    this.#tell(this.progress, ` ${formatProgress(done, total)} `, this.stopper);
  }

  async #search({direction, choice}, signal) {
    const isNext = direction === "next", key = JSON.stringify(choice);
    if (key !== this.#looksFor)
      this.found.replaceChildren();
    this.#looksFor = key;
    this.#tell("Searching…");
    try {
      const row = await findEvent(searchPlace(this.state, isNext), direction, choice, signal,
                                  (done, total) => this.#showProgress(done, total));
      this.#tell(row ? "" : isNext ? "No match after the cursor." : "No match before the cursor.");
      if (row)
        this.#show(row, isNext);
    } catch (error) {
      this.#tell(wasAborted(error) ? "Stopped." : error.message);
    }
  }

  #show(row, isNext) {
    for (const node of this.found.querySelectorAll(".current"))
      node.classList.remove("current");
    let node = this.found.querySelector(`[data-n="${row.n}"]`);
    if (!node) {
      node = eventRow(row, null, this);
      this.found[isNext ? "append" : "prepend"](node);
    }
    node.classList.add("current");
    node.scrollIntoView({block: "nearest"});
    this.goToEvent(row);
  }
}
