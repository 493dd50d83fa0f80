// SPDX-License-Identifier: BSD-2-Clause
// The tab of event types with their counts in the view; selected ones are marked with a colour.
import {MARK_COLORS} from "./colors.js";
import {checkbox, element, swatch} from "./element.js";

export class MarksPanel {
  title = "Marks";

  constructor(parts) {
    Object.assign(this, parts); // trace, state, counts
    this.state.on(["marks"], () => this.show());
  }

  build() {
    this.text = element("input", {type: "search", placeholder: "Find events to mark", "aria-label": "find events to mark",
                                  input: () => this.#fill()});
    this.list = element("div", {class: "kinds"});
    this.present = checkbox("in the view");
    this.present.title = "only events in the view";
    this.present.addEventListener("change", ({target}) => this.list.classList.toggle("present", target.checked));
    this.node.append(element("div", {class: "tools"}, this.text, this.present,
                             element("button", {click: () => this.state.change({marks: new Map()})}, "Clear")),
                     this.list);
    this.list.addEventListener("change", (event) => this.toggle(event.target.value));
  }

  show() {
    if (this.node.hidden || !this.state.panel)
      return;
    this.counts.follow(true);
    this.#fill();
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
      const count = this.counts.count(node.dataset.event);
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
}
