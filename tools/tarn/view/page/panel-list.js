// The tab of events around the cursor, or those with a text or of a type. Only a part is loaded; scrolling loads more.
import {Latest, ask} from "./api.js";
import {checkbox, element, options, swatch} from "./element.js";
import {Tab} from "./panel.js";
import {formatSpan, formatTime} from "./time.js";

const CHUNK = 60; // events per request in one direction
const MOST = 600; // events kept
const SETTLED = 200; // ms

// Omits reserved fields, as tarn list does.
const fieldsOf = (event) => Object.entries(event.fields).filter(([name]) => !name.startsWith("reserved"));

function eventRow(event, before, {trace, colors, state}) {
  const {n, t, tid, comm, name} = event, mark = state.marks.get(name), span = (kind, ...content) => element("span", {class: kind}, ...content);
  const node = element("div", {class: "event", role: "row", "data-n": n, "data-t": t},
    span("time", formatTime(t)), span("delta quiet", before === null ? "" : `+${formatSpan(t - before)}`), span("cpu quiet", `cpu ${trace.cpu(event.cpu)}`),
    span("who", swatch(colors.of(event.color)), tid ? `${comm} (${tid})` : comm || "idle"),
    element("div", {class: "what"}, mark === undefined ? null : swatch(`var(--mark-${mark})`), element("strong", {}, name), " ",
            ...fieldsOf(event).map(([field, value]) => span("field", element("b", {}, field), " " + value))));
  node.event = event;
  return node;
}

// Parameters for the server that select the events of a lane.
export function laneChoice(trace, lane) {
  if (!lane)
    return {};
  return lane[0] === "c" ? {cpus: lane.slice(1)} : {tids: String(trace.thread(Number(lane.slice(1))).tid)};
}

// Returns the next matching event, or null. `from` is {n} or {at}. The server looks for a while per request; after each request,
// told(progress) gets a text.
export async function findEvent(from, direction, choice, signal, told) {
  const isNext = direction === "next", millions = (events) => (events / 1e6).toFixed(1);
  for (let place = from, start = null;;) {
    const reply = await ask("list", {...place, before: isNext ? 0 : 1, after: isNext ? 1 : 0, ...choice}, signal);
    if (reply.rows.length || (isNext ? reply.to >= reply.total : reply.from === 0))
      return reply.rows[0] ?? null;
    start ??= reply.start;
    place = {n: isNext ? reply.to : reply.from};
    told(`searching, ${millions(Math.abs(place.n - start))} of ${millions(isNext ? reply.total - start : start)} million events`);
  }
}

// The start of a search: after or before the cursor.
export function searchPlace({cursor, from}, direction) {
  return cursor === null ? {at: from} : cursor.n === null ? {at: cursor.t} : {n: cursor.n + (direction === "next")};
}

export class ListPanel extends Tab {
  title = "Events";
  #rows = [];
  #from = 0; // event numbers searched
  #to = 0;
  #total = 0;
  #shownFor = "";
  #timer = 0;
  #isOwn = false; // this list moved the cursor
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  build() {
    this.state.on(["cursor", "lane", "marks"], () => this.show());
    this.state.on(["from", "to"], () => this.#follow());
    const button = (direction, sign, type) => element("button", {type, title: direction, "aria-label": direction,
      click: () => type === "submit" || this.find(direction)}, sign);
    this.text = element("input", {type: "search", placeholder: "Text: event, thread, value", "aria-label": "text"});
    this.kind = element("select", {"aria-label": "event"});
    this.lane = checkbox("this lane");
    this.marked = checkbox("marked");
    this.box = element("div", {class: "events", role: "grid", tabindex: 0, "aria-label": "events", "aria-readonly": "true"});
    this.node.append(element("form", {class: "tools", input: () => {
      this.page.tell(""); // messages refer to the previous text
      this.show();
    }, submit: (event) => {
      event.preventDefault();
      this.find("next");
    }}, this.text, button("previous", "↑", "button"), button("next", "↓", "submit"), this.kind, this.lane, this.marked),
                     this.box);
    this.fill();
    this.box.addEventListener("click", (event) => this.#goTo(event.target.closest(".event")));
    this.box.addEventListener("keydown", (event) => this.#key(event));
    this.box.addEventListener("scroll", () => this.#more());
  }

  focusText() {
    this.text.focus();
    this.text.select();
  }

  // Lists the event types that the trace declares.
  fill() {
    const events = [...this.trace.events].sort((a, b) => a.name.localeCompare(b.name));
    this.kind.replaceChildren(...options("any event", events.map(({index, name}) => [index, name])));
  }

  get #choice() {
    const [lane, marked] = [this.lane, this.marked].map((label) => label.firstChild.checked);
    return {text: this.text.value.trim() || undefined,
            events: this.kind.value || (marked && this.trace.eventIndexes(this.state.marks.keys())) || undefined,
            ...(lane ? laneChoice(this.trace, this.state.lane) : {})};
  }

  show() {
    if (!this.isShown)
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

  async #load({place, before, after, choice, key, grow = 0, isEnd}, signal) {
    const reply = await ask("list", {...place, before, after, ...choice}, signal), {box} = this;
    if (grow && key !== this.#shownFor)
      return;
    const top = box.getBoundingClientRect().top;
    const anchor = grow ? [...box.children].find((node) => node.getBoundingClientRect().bottom > top) : null, at = anchor?.getBoundingClientRect().top;
    this.#shownFor = key;
    this.start = grow ? this.start : reply.start;
    this.#take(reply, grow);
    this.#fill();
    this.#highlight(!grow);
    const now = anchor && box.querySelector(`[data-n="${anchor.dataset.n}"]`);
    if (now) // visible rows keep their position
      box.scrollTop += now.getBoundingClientRect().top - at;
    else if (isEnd)
      box.scrollTop = box.scrollHeight;
    else if (!grow && !this.state.cursor)
      box.scrollTop += ([...box.children].find((node) => Number(node.dataset.n) >= this.start)?.getBoundingClientRect().top ?? top) - top;
  }

  // Adds rows before (grow < 0) or behind the others, of which some are dropped at the other end, or replaces all.
  #take({rows, from, to, total}, grow) {
    const all = [...(grow > 0 ? this.#rows : []), ...rows, ...(grow < 0 ? this.#rows : [])];
    this.#rows = grow < 0 ? all.slice(0, MOST) : all.slice(-MOST);
    const [first, last] = all.length > MOST ? [this.#rows[0].n, this.#rows.at(-1).n + 1] : [this.#from, this.#to];
    this.#from = grow > 0 ? first : from;
    this.#to = grow < 0 ? last : to;
    this.#total = total;
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
    this.box.replaceChildren(...this.#rows.map((row, i) => eventRow(row, i > 0 ? this.#rows[i - 1].t : null, this)));
    if (!this.#rows.length)
      this.box.append(element("p", {class: "note"}, "No matching events here."));
    this.#markView();
  }

  #more() {
    const {box} = this, wish = {key: this.#shownFor, choice: this.#choice};
    if (this.#asking.isBusy || this.#rows.length === 0)
      return;
    if (box.scrollTop < 400 && this.#from > 0)
      this.#asking.want({...wish, grow: -1, place: {n: this.#from}, before: CHUNK, after: 0});
    else if (box.scrollTop + box.clientHeight > box.scrollHeight - 400 && this.#to < this.#total)
      this.#asking.want({...wish, grow: 1, place: {n: this.#to}, before: 0, after: CHUNK});
  }

  // The event at the cursor, or the first one after it.
  #highlight(scrolls) {
    const {cursor} = this.state, n = cursor ? cursor.n ?? this.start : Infinity;
    const current = this.box.querySelector(`[data-n="${n}"]`) ?? [...this.box.children].find((row) => Number(row.dataset.n) >= n);
    for (const node of this.box.children) {
      node.classList.toggle("current", node === current);
      node.setAttribute("aria-selected", node === current);
    }
    if (!current || !scrolls)
      return;
    const box = this.box.getBoundingClientRect(), place = current.getBoundingClientRect();
    if (place.top < box.top || place.bottom > box.bottom)
      this.box.scrollTop += place.top - box.top - box.height / 3;
  }

  #goTo(node) {
    if (!node?.event)
      return;
    this.#isOwn = true;
    this.page.goToEvent(node.event);
    node.scrollIntoView({block: "nearest"});
  }

  #key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10}[event.key];
    if (!step)
      return;
    event.preventDefault();
    const nodes = [...this.box.children], at = nodes.findIndex((node) => node.classList.contains("current"));
    this.#goTo(nodes[at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1)]);
  }

  // Goes to the next or previous match.
  find(direction, text = this.text.value) {
    this.text.value = text;
    this.page.look(direction, this.#choice, `No match ${direction === "next" ? "after" : "before"} the cursor.`);
  }
}
