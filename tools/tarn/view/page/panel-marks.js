// The tab of event types with their counts in the view; selected ones are marked with a colour.
import {Latest, ask} from "./api.js";
import {MARK_COLORS} from "./colors.js";
import {checkbox, element} from "./element.js";
import {Tab} from "./panel.js";
import {makeTable} from "./table.js";

const TABLE = {heading: "event", help: "the name of the event", columns: [
  {key: "class", kind: "text", heading: "class", help: "the event's class"},
  {key: "events", kind: "count", heading: "events", help: "how many are in the view"}]};

// How many events of each type are in the view.
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

export class MarksPanel extends Tab {
  title = "Marks";
  #sorting = {most: Infinity};

  build() {
    this.state.on(["marks"], () => this.show());
    this.text = element("input", {type: "search", placeholder: "Find events to mark", "aria-label": "find events to mark"});
    this.present = checkbox("in the view");
    this.present.title = "only events in the view";
    this.list = element("div");
    this.node.append(element("div", {class: "tools", input: () => this.update()}, this.text, this.present,
                             element("button", {click: () => this.state.change({marks: new Map()})}, "Clear")),
                     this.list);
  }

  show() {
    if (!this.isShown)
      return;
    this.counts.follow(true);
    this.update();
  }

  toggle(name) {
    const marks = new Map(this.state.marks);
    if (!marks.delete(name)) {
      const used = new Set(marks.values());
      marks.set(name, Array.from({length: MARK_COLORS}, (_, i) => i).find((i) => !used.has(i)) ?? marks.size % MARK_COLORS);
    }
    this.state.change({marks});
  }

  // Shows new counts, but not under a pressed pointer, whose click would be lost.
  update() {
    if (this.node.hidden || this.list.matches(":active"))
      return;
    const wanted = this.text.value.trim().toLowerCase(), {marks} = this.state, isPresent = this.present.firstChild.checked;
    const rows = this.trace.events.map((event) => ({...event, events: this.counts.count(event.name),
                                                    color: marks.has(event.name) && `var(--mark-${marks.get(event.name)})`}))
      .filter((row) => `${row.class} ${row.name}`.toLowerCase().includes(wanted) && (row.events || !isPresent));
    this.list.replaceChildren(makeTable(TABLE, rows, {title: "mark or unmark", act: ({name}) => this.toggle(name)}, this.#sorting));
  }
}
