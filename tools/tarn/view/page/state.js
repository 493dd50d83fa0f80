// The state of the page and the address that represents it. Call change() to change it; it notifies all listeners.
import {MARK_COLORS} from "./colors.js";

const SETTLED = 500; // ms without a change of the range before it becomes a step in the browser's history
const NARROWEST = 20; // ns

// Parses a number in an address, limited to `most`; returns `otherwise` if it is not a number.
function number(text, most, otherwise) {
  return /^\d+(\.\d+)?$/.test(text ?? "") ? Math.min(Number(text), most) : otherwise;
}

// Parses FROM-TO, limited to the trace and with a minimum length; or null.
function range(text, {duration}, least) {
  const [, a, b] = /^(\d+)-(\d+)$/.exec(text) ?? [], from = number(a, duration, NaN), to = number(b, duration, NaN);
  return to - from >= least ? {from, to} : null;
}

// Parses TIME or TIME-EVENT; or null.
function moment(text, {duration}) {
  const [, t, n] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  return t === undefined ? null : {t: number(t, duration), n: Number.isSafeInteger(Number(n)) ? Number(n) : null};
}

const mark = (text) => [text.replace(/:\d+$/, ""), number(/:(\d+)$/.exec(text)?.[1], Number.MAX_SAFE_INTEGER, 0) % MARK_COLORS];

const list = (text) => text.split(",").filter((part) => part !== "");
// One of some words, of which the first is usual and not written.
const word = (key, ...known) => [key, (value) => (value === known[0] ? "" : value), (text) => (known.includes(text) ? text : known[0])];

// The parts of an address: [property of the state, what it is as text ("": left out), what a text is as its value]. The cursor is
// {t, n, lanes?}: time, event or null, and lane keys of which the first existing one is used. Marks are event name -> colour
// number. Folded are lanes whose calls are hidden, and processes (p + pid).
const PARTS = [
  ["from", (t) => `${Math.round(t)}`],
  ["to", (t) => `${Math.round(t)}`],
  ["selection", (it) => it && `${it.from}-${it.to}`, (text, state) => range(text, state, 1)],
  ["cursor", (it) => it && `${Math.round(it.t)}` + (it.n === null ? "" : `-${it.n}`), moment],
  ["lane", (key) => key, (text, state) => (state.isLane(text) ? text : null)],
  ["marks", (marks) => [...marks].map(([name, color]) => `${name}:${color}`).join(","), (text) => new Map(list(text).map(mark))],
  ["pins", (keys) => [...keys].join(","), (text, state) => new Set(list(text).filter((key) => state.isLane(key)))],
  ["folded", (keys) => [...keys].join(","), (text) => new Set(list(text))],
  ["filter", (text) => text, (text) => text],
  word("arrows", "auto", "all", "none"),
  ["tab", (name) => (name === "list" ? "" : name), (text) => text || "list"],
  ["panel", (isShown) => (isShown ? "" : "no"), (text) => text !== "no"],
];

const nameOf = (key) => (key === "cursor" ? "at" : key); // in an address

export class State extends EventTarget {
  duration = 1;
  usual = null; // the range of a link without one: {from, to}; null: all
  isLane = () => false; // returns whether the trace has a lane with that key
  follow = false;
  #timer = 0;
  #pushed = "";

  constructor() {
    super();
    Object.assign(this, this.read(""));
  }

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

  get link() {
    const words = new URLSearchParams();
    for (const [key, write] of PARTS) {
      const word = write(this[key]);
      if (word)
        words.set(nameOf(key), word);
    }
    return "#" + words.toString().replace(/%2C/g, ",").replace(/%3A/g, ":");
  }

  // Parses an address. It may be hand-written, so invalid parts are ignored; this never fails.
  read(hash) {
    const words = new URLSearchParams(hash.replace(/^#/, "")), {duration} = this;
    const usual = words.has("from") || words.has("to") ? {from: 0, to: duration} : this.usual ?? {from: 0, to: duration};
    const from = number(words.get("from"), duration - 1, usual.from), to = number(words.get("to"), duration, usual.to);
    const rest = PARTS.slice(2).map(([key, , read]) => [key, read(words.get(nameOf(key)) ?? "", this)]);
    return {from, to: to - from < NARROWEST ? Math.min(from + NARROWEST, duration) : to, ...Object.fromEntries(rest)};
  }

  start(duration, isLane) {
    Object.assign(this, {duration, isLane});
    this.change(this.read(location.hash));
    history.replaceState(null, "", this.link);
    this.#pushed = this.link;
    addEventListener("popstate", () => {
      this.change({...this.read(location.hash), follow: false});
      clearTimeout(this.#timer);
      this.#timer = 0;
      this.#pushed = this.link;
    });
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
    const range = (link) => /from=\d+&to=\d+/.exec(link)?.[0], {link} = this;
    if (link === this.#pushed)
      return;
    if (range(link) === range(this.#pushed) || this.follow)
      history.replaceState(null, "", link);
    else
      history.pushState(null, "", link);
    this.#pushed = link;
  }
}
