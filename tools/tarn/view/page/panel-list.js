// SPDX-License-Identifier: BSD-2-Clause
// The tab of events around the cursor, with all fields. Only a part of the events is loaded; scrolling loads more.
import {Latest, ask, ranges} from "./api.js";
import {element} from "./element.js";
import {eventRow, laneChoice} from "./events.js";

const CHUNK = 60; // events per request in one direction
const MOST = 600; // events kept
const SETTLED = 200; // ms

export class ListPanel {
  title = "Events";
  #rows = [];
  #ends = {first: false, last: false}; // no more events in this direction
  #from = 0; // event numbers searched
  #to = 0;
  #shownFor = "";
  #timer = 0;
  #isOwn = false; // this list moved the cursor
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  constructor(parts) {
    Object.assign(this, parts); // trace, state, colors, goToEvent
    this.state.on(["cursor", "lane", "marks"], () => this.show());
    this.state.on(["from", "to"], () => this.#follow());
  }

  build() {
    const again = () => this.show();
    this.text = element("input", {type: "search", placeholder: "Filter: event, thread, value", "aria-label": "filter events", input: again});
    this.lane = element("input", {type: "checkbox", change: again});
    this.marked = element("input", {type: "checkbox", change: again});
    this.box = element("div", {class: "events", role: "grid", tabindex: 0, "aria-label": "events", "aria-readonly": "true"});
    this.note = element("p", {class: "note"});
    this.node.append(element("div", {class: "tools"}, this.text, element("label", {}, this.lane, " this lane"),
                             element("label", {}, this.marked, " marked")), this.note, this.box);
    this.box.addEventListener("click", (event) => this.#choose(event.target.closest(".event")));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("scroll", () => this.#more());
  }

  get #choice() {
    const marked = [...this.state.marks.keys()].map((name) => this.trace.eventNames.get(name)?.index);
    return {text: this.text.value.trim() || undefined, ...(this.lane.checked ? laneChoice(this.trace, this.state.lane) : {}),
            events: this.marked.checked && marked.length ? ranges(marked) : undefined};
  }

  show() {
    if (this.node.hidden || !this.state.panel)
      return;
    const {cursor} = this.state, choice = this.#choice, key = JSON.stringify([choice, [...this.state.marks]]);
    const has = cursor && cursor.n !== null && this.#rows.some((row) => row.n === cursor.n);
    if (has && key === this.#shownFor) {
      this.#highlight(!this.#isOwn);
      this.#isOwn = false;
      return;
    }
    const place = cursor ? (cursor.n !== null ? {n: cursor.n} : {at: cursor.t}) : {at: Math.round(this.state.from)};
    if (!cursor && this.state.follow)
      this.#asking.want({place: {at: this.state.duration}, choice, key, before: CHUNK, after: 0, isEnd: true});
    else
      this.#asking.want({place, choice, key, before: CHUNK, after: CHUNK});
  }

  async #load(wish, signal) {
    const reply = await ask("list", {...wish.place, before: wish.before, after: wish.after, ...wish.choice}, signal);
    if (wish.grow) {
      this.#grow(wish, reply);
      return;
    }
    this.#shownFor = wish.key;
    this.#rows = reply.rows;
    this.#from = reply.from;
    this.#to = reply.to;
    this.start = reply.start;
    this.#ends = {first: reply.from === 0, last: reply.to >= reply.total};
    this.#fill();
    this.#highlight(true);
    if (wish.isEnd)
      this.box.scrollTop = this.box.scrollHeight;
    else if (!this.state.cursor)
      this.#scrollToStart();
  }

  #scrollToStart() {
    const first = [...this.box.children].find((node) => Number(node.dataset.n) >= this.start);
    if (first)
      this.box.scrollTop += first.getBoundingClientRect().top - this.box.getBoundingClientRect().top;
  }

  // Without a cursor, the list begins at the start of the view.
  #follow() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.state.cursor)
        this.show();
      this.#markView();
    }, SETTLED);
  }

  // Marks events in the view with a line on the left.
  #markView() {
    const {from, to} = this.state;
    for (const node of this.box.children)
      node.classList.toggle("in-view", Number(node.dataset.t) >= from && Number(node.dataset.t) <= to);
  }

  #fill() {
    let before = null;
    this.box.replaceChildren(...this.#rows.map((row) => {
      const node = eventRow(row, before, this);
      before = row.t;
      return node;
    }));
    this.#markView();
    this.note.textContent = this.#rows.length ? "" : "No matching events here.";
  }

  // Adds rows at one end and drops some at the other; visible rows keep their position.
  #grow(wish, reply) {
    if (wish.key !== this.#shownFor)
      return;
    const {box} = this, anchor = this.#firstShown(), at = anchor?.getBoundingClientRect().top;
    if (wish.grow < 0) {
      this.#rows = [...reply.rows, ...this.#rows].slice(0, MOST);
      this.#from = reply.from;
      this.#ends.first = reply.from === 0;
      this.#to = this.#rows.length === MOST ? this.#rows.at(-1).n + 1 : this.#to;
      this.#ends.last &&= this.#rows.length < MOST;
    } else {
      this.#rows = [...this.#rows, ...reply.rows].slice(-MOST);
      this.#to = reply.to;
      this.#ends.last = reply.to >= reply.total && reply.rows.length < CHUNK;
      this.#from = this.#rows.length === MOST ? this.#rows[0].n : this.#from;
      this.#ends.first &&= this.#rows.length < MOST;
    }
    this.#fill();
    this.#highlight(false);
    const now = anchor && box.querySelector(`[data-n="${anchor.dataset.n}"]`);
    if (now)
      box.scrollTop += now.getBoundingClientRect().top - at;
  }

  #firstShown() {
    const top = this.box.getBoundingClientRect().top;
    return [...this.box.children].find((node) => node.getBoundingClientRect().bottom > top) ?? null;
  }

  #more() {
    const {box} = this, wish = {key: this.#shownFor, choice: this.#choice};
    if (this.#asking.isBusy || this.#rows.length === 0)
      return;
    if (box.scrollTop < 400 && !this.#ends.first)
      this.#asking.want({...wish, grow: -1, place: {n: this.#from}, before: CHUNK, after: 0});
    else if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && !this.#ends.last)
      this.#asking.want({...wish, grow: 1, place: {n: this.#to}, before: 0, after: CHUNK});
  }

  // The event at the cursor, or the first one after it.
  #highlight(scrolls) {
    const {cursor} = this.state, n = cursor ? cursor.n ?? this.start : -1;
    for (const node of this.box.querySelectorAll(".current")) {
      node.classList.remove("current");
      node.removeAttribute("aria-selected");
    }
    const node = this.box.querySelector(`[data-n="${n}"]`) ??
      [...this.box.children].find((row) => cursor && Number(row.dataset.n) >= n);
    node?.classList.add("current");
    node?.setAttribute("aria-selected", true);
    if (!node || !scrolls)
      return;
    const box = this.box.getBoundingClientRect(), place = node.getBoundingClientRect();
    if (place.top < box.top || place.bottom > box.bottom)
      this.box.scrollTop += place.top - box.top - box.height / 3;
  }

  #choose(node) {
    if (!node)
      return;
    this.#isOwn = true;
    this.goToEvent(node.event);
    node.scrollIntoView({block: "nearest"});
  }

  #key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10}[event.key];
    if (!step)
      return;
    event.preventDefault();
    const nodes = [...this.box.children], at = nodes.findIndex((node) => node.classList.contains("current"));
    this.#choose(nodes[at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1)]);
  }
}
