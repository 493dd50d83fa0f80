// SPDX-License-Identifier: BSD-2-Clause
// What is looked at: the range, what is chosen in it, and the address that says the same. Everyone reads it; who changes it
// calls change(), and all others hear of it.

import {MARK_COLORS} from "./colors.js";

const SETTLED = 500; // ms without a change of the range: a step in the browser's history
const NARROWEST = 20; // ns

// A number of an address, no larger than `most`; `otherwise` when it is none.
function number(text, most, otherwise) {
  return /^\d+(\.\d+)?$/.test(text ?? "") ? Math.min(Number(text), most) : otherwise;
}

// A label as an address has it. A link that was written by hand may hold a % that begins no escape.
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Where the panel was last; at first, where there is more room.
function usualDock() {
  return localStorage.getItem("dock") ?? (innerWidth < 1000 ? "bottom" : "right");
}

export class State extends EventTarget {
  from = 0;
  to = 1;
  duration = 1;
  usual = null; // the range of a link that names none: {from, to}; null: all
  isLane = () => false; // whether the trace has a lane of that key
  follow = false;
  cursor = null; // {t, n, lanes?}: a moment, the event there or null, and keys of lanes where that is: the first that there is
  selection = null; // {from, to}
  lane = null; // key of the lane that is chosen
  marks = new Map(); // an event's name to the number of its colour
  places = []; // marked ranges: {from, to, label}
  pins = new Set(); // keys of lanes
  folded = new Set(); // lanes whose calls are hidden, and processes (p + pid)
  sort = "time";
  filter = "";
  arrows = "auto";
  tab = "list";
  panel = true;
  dock = "right"; // where the panel is: right or bottom
  #timer = 0;
  #pushed = "";

  // keys: which properties.
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

  // Within the trace, and not so narrow that nothing could be seen.
  show(from, to, more = {}) {
    const asked = Math.max(to - from, NARROWEST);
    const span = asked > this.duration * 0.9999 ? this.duration : asked; // a little less is rounding
    const middle = (from + to) / 2;
    const begin = Math.min(Math.max(middle - span / 2, 0), this.duration - span);
    if (begin !== this.from || begin + span !== this.to || more.follow !== this.follow)
      this.change({from: begin, to: begin + span, follow: false, ...more});
  }

  zoom(factor, at = this.from + this.span / 2) {
    const span = Math.min(Math.max(this.span * factor, NARROWEST), this.duration);
    const share = this.follow ? 1 : (at - this.from) / this.span; // one that follows stays at the end
    const fixed = this.follow ? this.to : at;
    this.show(fixed - span * share, fixed + span * (1 - share), {follow: this.follow});
  }

  pan(share) {
    this.show(this.from + this.span * share, this.to + this.span * share);
  }

  // So that a moment can be seen; if it can, nothing moves.
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

  // What an address says. Anybody may have written it: nonsense is left out, and this never fails.
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

  // FROM-TO, within the trace and at least that long; or null.
  #range(text, least) {
    const [, a, b] = /^(\d+)-(\d+)$/.exec(text) ?? [], from = number(a, this.duration, NaN), to = number(b, this.duration, NaN);
    return to - from >= least ? {from, to} : null;
  }

  #place(text) {
    const [, range, label] = /^(\d+-\d+)-(.*)$/.exec(text) ?? [], found = this.#range(range ?? "", 0);
    return found && {...found, label: unescaped(label)};
  }

  // TIME or TIME-EVENT; or null.
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

  // A step in the history for each range that was stayed at; the rest changes the address of that step.
  #remember(keys) {
    if (!this.#pushed) // not started
      return;
    if (!keys.has("from") && !keys.has("to") && this.#timer)
      return; // with the range
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
