// SPDX-License-Identifier: BSD-2-Clause
// The state of the page: the range, the selection and so on, and the address that represents them. Call change() to change it;
// it notifies all listeners.

import {MARK_COLORS} from "./colors.js";

const SETTLED = 500; // ms without a change of the range before it becomes a step in the browser's history
const NARROWEST = 20; // ns

// Parses a number in an address, limited to `most`; returns `otherwise` if it is not a number.
function number(text, most, otherwise) {
  return /^\d+(\.\d+)?$/.test(text ?? "") ? Math.min(Number(text), most) : otherwise;
}

// Decodes a label in an address. A hand-written link may contain a % that does not begin an escape.
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The panel's last position; at first, where there is more space.
function usualDock() {
  return localStorage.getItem("dock") ?? (innerWidth < 1000 ? "bottom" : "right");
}

export class State extends EventTarget {
  from = 0;
  to = 1;
  duration = 1;
  usual = null; // the range of a link without one: {from, to}; null: all
  isLane = () => false; // returns whether the trace has a lane with that key
  follow = false;
  cursor = null; // {t, n, lanes?}: time, event or null, and lane keys of which the first existing one is used
  selection = null; // {from, to}
  lane = null; // key of the selected lane
  marks = new Map(); // event name -> colour number
  places = []; // marked ranges: {from, to, label}
  pins = new Set(); // keys of lanes
  folded = new Set(); // lanes whose calls are hidden, and folded processes (p + pid)
  sort = "time";
  filter = "";
  arrows = "auto";
  tab = "list";
  panel = true;
  dock = "right"; // position of the panel: right or bottom
  #timer = 0;
  #pushed = "";

  // keys: names of properties.
  change(values) {
    Object.assign(this, values);
    const keys = new Set(Object.keys(values));
    this.dispatchEvent(Object.assign(new Event("change"), {keys}));
    this.#remember(keys);
  }

  on(keys, callback) {
    const wanted = new Set(keys);
    this.addEventListener("change", (event) => {
      if ([...event.keys].some((key) => wanted.has(key)))
        callback(event.keys);
    });
  }

  get span() {
    return this.to - this.from;
  }

  // Limits the range to the trace and to a minimum width.
  show(from, to, more = {}) {
    const asked = Math.max(to - from, NARROWEST);
    const span = asked > this.duration * 0.9999 ? this.duration : asked; // a difference this small is rounding
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(middle - span / 2, 0), this.duration - span);
    if (begin !== this.from || begin + span !== this.to || more.follow !== this.follow)
      this.change({from: begin, to: begin + span, follow: false, ...more});
  }

  zoom(factor, at = this.from + this.span / 2) {
    const span = Math.min(Math.max(this.span * factor, NARROWEST), this.duration);
    const share = this.follow ? 1 : (at - this.from) / this.span; // while following, stay at the end
    const fixed = this.follow ? this.to : at;
    this.show(fixed - span * share, fixed + span * (1 - share), {follow: this.follow});
  }

  pan(share) {
    this.show(this.from + this.span * share, this.to + this.span * share);
  }

  // Pans if needed to make a time visible.
  reveal(t) {
    if (t < this.from || t > this.to)
      this.show(t - this.span / 2, t + this.span / 2);
  }

  // ---- the address

  get link() {
    const words = new URLSearchParams();
    words.set("from", Math.round(this.from));
    words.set("to", Math.round(this.to));
    if (this.selection)
      words.set("selection", `${Math.round(this.selection.from)}-${Math.round(this.selection.to)}`);
    if (this.cursor)
      words.set("at", this.cursor.n === null ? `${Math.round(this.cursor.t)}` : `${Math.round(this.cursor.t)}-${this.cursor.n}`);
    if (this.lane)
      words.set("lane", this.lane);
    if (this.marks.size)
      words.set("marks", [...this.marks].map(([name, color]) => `${name}:${color}`).join(","));
    if (this.places.length)
      words.set("places", this.places.map((p) => `${Math.round(p.from)}-${Math.round(p.to)}-${encodeURIComponent(p.label)}`).join(","));
    for (const [key, set] of [["pins", this.pins], ["folded", this.folded]])
      if (set.size)
        words.set(key, [...set].join(","));
    for (const [key, usual] of [["sort", "time"], ["filter", ""], ["arrows", "auto"], ["tab", "list"]])
      if (this[key] !== usual)
        words.set(key, this[key]);
    if (!this.panel)
      words.set("panel", "no");
    words.set("dock", this.dock);
    return "#" + words.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
  }

  // Parses an address. It may be hand-written, so invalid parts are ignored; this never fails.
  read(hash) {
    const words = new URLSearchParams(hash.replace(/^#/, "")), {duration} = this;
    const list = (key) => (words.get(key) ?? "").split(",").filter((part) => part !== "");
    const oneOf = (key, known, usual) => (known.includes(words.get(key)) ? words.get(key) : usual);
    const usual = words.has("from") || words.has("to") ? {from: 0, to: duration} : this.usual ?? {from: 0, to: duration};
    const from = number(words.get("from"), duration - 1, usual.from), to = number(words.get("to"), duration, usual.to);
    return {
      from, to: to - from < NARROWEST ? Math.min(from + NARROWEST, duration) : to,
      selection: this.#range(words.get("selection") ?? "", 1), cursor: this.#moment(words.get("at") ?? ""),
      lane: this.isLane(words.get("lane")) ? words.get("lane") : null,
      marks: new Map(list("marks").map((part) => [part.replace(/:\d+$/, ""),
                                                  number(/:(\d+)$/.exec(part)?.[1], Number.MAX_SAFE_INTEGER, 0) % MARK_COLORS])),
      places: list("places").map((part) => this.#place(part)).filter(Boolean),
      pins: new Set(list("pins").filter((key) => this.isLane(key))),
      folded: new Set(list("folded")),
      sort: oneOf("sort", ["time", "name", "tid"], "time"),
      filter: words.get("filter") ?? "",
      arrows: oneOf("arrows", ["auto", "all", "none"], "auto"),
      tab: words.get("tab") ?? "list",
      panel: words.get("panel") !== "no",
      dock: oneOf("dock", ["right", "bottom"], usualDock()),
    };
  }

  // Parses FROM-TO, limited to the trace and with a minimum length; or null.
  #range(text, least) {
    const [, a, b] = /^(\d+)-(\d+)$/.exec(text) ?? [], from = number(a, this.duration, NaN), to = number(b, this.duration, NaN);
    return to - from >= least ? {from, to} : null;
  }

  #place(text) {
    const [, range, label] = /^(\d+-\d+)-(.*)$/.exec(text) ?? [], found = this.#range(range ?? "", 0);
    return found && {...found, label: unescaped(label)};
  }

  // Parses TIME or TIME-EVENT; or null.
  #moment(text) {
    const [, t, n] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
    return t === undefined ? null : {t: number(t, this.duration), n: Number.isSafeInteger(Number(n)) ? Number(n) : null};
  }

  start(duration, isLane) {
    Object.assign(this, {duration, isLane});
    this.change(this.read(location.hash));
    history.replaceState(null, "", this.link);
    this.#pushed = this.link;
    addEventListener("popstate", () => this.#take());
  }

  #take() {
    this.change({...this.read(location.hash), follow: false});
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#pushed = this.link;
  }

  // Each range that stays for a while is a step in the history; other changes update the address of that step.
  #remember(keys) {
    if (!this.#pushed) // not started
      return;
    if (!keys.has("from") && !keys.has("to") && this.#timer)
      return; // written together with the range
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.settle(), SETTLED);
  }

  settle() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const range = (link) => /from=\d+&to=\d+/.exec(link)?.[0];
    const link = this.link;
    if (link === this.#pushed)
      return;
    if (range(link) === range(this.#pushed) || this.follow)
      history.replaceState(null, "", link);
    else
      history.pushState(null, "", link);
    this.#pushed = link;
  }
}
