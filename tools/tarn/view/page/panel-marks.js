// SPDX-License-Identifier: BSD-2-Clause
// The tab of event types with their counts in the view; selected ones are marked with a colour. Below: marked ranges.
import {MARK_COLORS} from "./colors.js";
import {checkbox, element, swatch} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

export class MarksPanel {
  title = "Marks";

  constructor(parts) {
    Object.assign(this, parts); // trace, state, counts
    this.state.on(["marks", "places"], () => this.show());
  }

  build() {
    this.text = element("input", {type: "search", placeholder: "Find events to mark", "aria-label": "find events to mark",
                                  input: () => this.#fill()});
    this.list = element("div", {class: "kinds"});
    this.present = checkbox("in the view");
    this.present.title = "only events in the view";
    this.present.addEventListener("change", ({target}) => this.list.classList.toggle("present", target.checked));
    this.places = element("div", {class: "places"});
    this.node.append(element("div", {class: "tools"}, this.text, this.present,
                             element("button", {click: () => this.state.change({marks: new Map()})}, "Clear")),
                     this.list, element("h2", {}, "Marked ranges"), this.places);
    this.list.addEventListener("change", (event) => this.toggle(event.target.value));
  }

  show() {
    if (this.node.hidden || !this.state.panel)
      return;
    this.counts.follow(true);
    this.#fill();
    this.#fillPlaces();
  }

  toggle(name) {
    const marks = new Map(this.state.marks);
    if (!marks.delete(name)) {
      const used = new Set(marks.values());
      marks.set(name, Array.from({length: MARK_COLORS}, (_, i) => i).find((i) => !used.has(i)) ?? marks.size % MARK_COLORS);
    }
    this.state.change({marks});
  }

  // Shows new counts without rebuilding the list under the pointer.
  update() {
    if (this.node.hidden)
      return;
    for (const node of this.list.querySelectorAll("[data-event]")) {
      const count = this.counts.countOfAll(node.dataset.event);
      node.querySelector(".use").textContent = count === undefined ? "…" : count.toLocaleString("en");
      node.classList.toggle("none", count === 0);
    }
    for (const kind of this.list.children)
      kind.classList.toggle("none", kind.querySelector("label:not(.none)") === null);
  }

  #fill() {
    const wanted = this.text.value.trim().toLowerCase(), byClass = new Map();
    for (const event of this.trace.events) {
      const kind = this.trace.classNames.get(event.class) ?? "";
      if (`${kind} ${event.name}`.toLowerCase().includes(wanted))
        byClass.set(kind, [...byClass.get(kind) ?? [], event]);
    }
    this.list.replaceChildren(...[...byClass].map(([kind, events]) =>
      element("fieldset", {}, element("legend", {}, kind), ...events.map((event) => this.#kind(event)))));
    this.update();
  }

  #kind(event) {
    const color = this.state.marks.get(event.name), isMarked = color !== undefined;
    return element("label", {"data-event": event.name, title: event.fields.join(", ")},
                   element("input", {type: "checkbox", value: event.name, checked: isMarked}), swatch(isMarked ? `var(--mark-${color})` : "none"),
                   element("span", {class: "label"}, event.name), element("span", {class: "use"}, "…"));
  }

  #fillPlaces() {
    const {places} = this.state;
    this.places.replaceChildren(...places.map((place, i) => {
      const label = element("input", {value: place.label, "aria-label": "name of the range", change: (event) => this.#rename(i, event.target.value)});
      return element("div", {class: "place"}, label,
                     element("button", {click: () => this.state.show(place.from, Math.max(place.to, place.from + 1000)), title: "show this range"},
                             `${formatTime(place.from, 1000)}, ${formatSpan(place.to - place.from)}`),
                     element("button", {click: () => this.state.change({selection: {from: place.from, to: place.to}})}, "Select"),
                     element("button", {"aria-label": "remove", click: () =>
                       this.state.change({places: places.filter((_, k) => k !== i)})}, "✕"));
    }), ...(places.length ? [] : [element("p", {class: "note"}, "None. Select a range (drag on the ruler) and press m.")]));
  }

  #rename(i, label) {
    this.state.change({places: this.state.places.map((place, k) => (k === i ? {...place, label} : place))});
  }
}
