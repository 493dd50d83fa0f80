// Caches the contents of lanes for ranges of time.
import {Latest, ask} from "./api.js";

const SETS = 10;
const MARGIN = 0.3; // fetched on either side of the view, as a fraction of it
export const WIDEST = 8000; // pixels; limit of the server
const MOST = 1000; // thread lanes per request; the server accepts a few more

// Strides of the server's flat arrays.
export const BOX = 4; // begin, end, look, merged; of a range that is not exact: four shares in place of merged
export const FLAG = 3; // time, event, count

// A look of the server; see paint.h.
const takeLook = ([shape, y, height, color, label, brief, tip, bottom, space, user, kernel, over]) =>
  ({shape, y, height, color, label, brief, tip, bottom, space, shares: [user, kernel, "interrupt"], over});

// The shares of a box in percent: of user, kernel, interrupt, and of a CPU idle, of a thread ready.
export const sharesOf = (merged) => [0, 8, 16, 24].map((bit) => merged >> bit & 255);
export const busyShare = (merged) => (merged & 255) + (merged >> 8 & 255) + (merged >> 16 & 255);

// Makes times of the server's gaps and lengths.
function addTimes(boxes) {
  for (let i = 0, t = 0; i < boxes.length; i += BOX)
    t = boxes[i + 1] += boxes[i] += t;
}

// Adds the lanes of a reply to a set, by key.
export function takeLanes(reply, set) {
  const looks = reply.looks.map(takeLook);
  for (const lane of reply.lanes) {
    lane.rows.forEach(addTimes);
    set.lanes.set(lane.key, {...lane, looks});
  }
}

// Adds its connections between lanes. Those of lanes that were loaded before arrive again.
function takeLinks({arrows, waits}, set) {
  for (let i = 0; i < arrows.length; i += 5) {
    const [begin, from, end, to, kind] = arrows.slice(i, i + 5);
    set.arrows.set([begin, from, end, to, kind].join(), {begin, from, end, to, kind});
  }
  for (const wait of waits)
    set.waits.set(`${wait.thread},${wait.end}`, wait);
}

export const newSet = ({from, to, width, exact}) => ({from, to, width, isExact: exact, lanes: new Map(), grain: (to - from) / width});

// Returns the index of the first of the (not overlapping) boxes that ends after a time.
export function firstAfter(boxes, t) {
  let low = 0, high = boxes.length / BOX;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (boxes[middle * BOX + 1] > t)
      high = middle;
    else
      low = middle + 1;
  }
  return low * BOX;
}

export class LaneData {
  #sets = []; // used last first
  #whole = null; // the whole trace, so that there is always something to show
  #asking;
  #asked = ""; // the last request
  isExact = true; // the data of the view shows single events

  constructor(trace, state, rows) {
    Object.assign(this, {trace, state, rows, onChange: () => {}});
    this.#asking = new Latest((wish, signal) => this.#load(wish, signal),
                              (current, wish) => current.to <= wish.view.from || current.from >= wish.view.to);
  }

  get isBusy() {
    return this.#asking.isBusy;
  }

  // Call this whenever the view or the lanes change. Requests only missing data.
  follow() {
    const {from, to, span} = this.state, sharp = Math.round(this.rows.width * Math.min(devicePixelRatio, 2));
    const pixels = Math.max(100, Math.min(sharp, Math.floor(WIDEST / (1 + 2 * MARGIN))));
    const wanted = this.rows.wanted, grain = span / pixels, events = this.trace.eventIndexes(this.state.marks.keys()) || "none";
    if (wanted.length === 0) // no layout yet
      return;
    const fits = this.#sets.find((set) => !set.isStale && set.from <= from && set.to >= to && set.grain <= grain * 1.01 &&
                                          set.events === events && (set.isExact || set.grain >= grain / 4));
    const missing = fits ? wanted.filter((key) => !fits.asked.has(key)) : wanted;
    if (fits)
      this.#sets = [fits, ...this.#sets.filter((set) => set !== fits)];
    if (fits && missing.length === 0) {
      this.isExact = fits.isExact;
      this.rows.takeDepths(this.depths, fits.isExact);
      return;
    }
    const begin = fits ? fits.from : Math.max(0, Math.floor(from - span * MARGIN));
    const end = fits ? fits.to : Math.min(this.state.duration, Math.ceil(to + span * MARGIN));
    const width = fits ? fits.width : Math.min(WIDEST, Math.round((end - begin) / grain));
    const wish = {from: begin, to: end, width, events, keys: missing.slice(0, MOST)}, asked = JSON.stringify(wish);
    if (this.isBusy && asked === this.#asked)
      return;
    this.#asked = asked;
    this.#asking.want({...wish, into: fits, view: {from, to}});
  }

  async #load(wish, signal) {
    const numbers = (letter) => wish.keys.filter((key) => key[0] === letter).map((key) => key.slice(1)).join() || "none";
    const {from, to, width, events} = wish;
    const reply = await ask("lanes", {from, to, width, events, cpus: numbers("c"), threads: numbers("t")}, signal);
    const set = wish.into ?? {...newSet(reply), events, asked: new Set(), arrows: new Map(), waits: new Map()};
    wish.keys.forEach((key) => set.asked.add(key)); // the server omits lanes that the trace does not have
    takeLanes(reply, set);
    takeLinks(reply, set);
    if (!wish.into)
      this.#keep(set);
    this.#asked = "";
    this.rows.takeDepths(this.depths, set.isExact);
    this.onChange();
  }

  #keep(set) {
    this.#sets = [set, ...this.#sets.filter((other) => !(other.isStale && other.from >= set.from && other.to <= set.to))];
    if (set.from <= 0 && set.to >= this.state.duration)
      this.#whole = set;
    this.#sets = this.#sets.filter((other, i) => i < SETS || other === this.#whole);
  }

  // Returns the nesting depth of calls in the view, by thread; null while the view is not covered.
  get depths() {
    const {from, to} = this.state, set = this.#sets.find((one) => one.from <= from && one.to >= to);
    if (!set)
      return null;
    const isSeen = (boxes) => boxes[firstAfter(boxes, from)] < to;
    return new Map([...set.lanes].filter(([key]) => key[0] === "t").map(([key, lane]) =>
      [Number(key.slice(1)), Math.max(0, lane.rows.findLastIndex(isSeen))]));
  }

  // The trace has grown: data that reached up to its end may be incomplete now.
  grow(duration) {
    for (const set of this.#sets)
      if (set.to >= duration)
        set.isStale = true;
  }

  forget() {
    this.#sets = [];
    this.#whole = null;
  }

  // Returns the pieces to draw a lane from: sets and parts of the view, which do not overlap.
  pieces(key, from, to) {
    const grain = (to - from) / Math.max(this.rows.width, 1), found = [];
    const usable = this.#sets.filter((set) => set.lanes.has(key) && set.from < to && set.to > from);
    const rank = (set) => (set.grain <= grain * 1.01 && set.grain > grain / 12 ? 0 : set.grain > grain ? 1 : 2);
    // Data of an earlier, narrower view lacks waits that end after it.
    const isPart = (set) => rank(set) === 0 && (set.from > from || set.to < to);
    usable.sort((a, b) => rank(a) - rank(b) || Number(a.isStale ?? 0) - Number(b.isStale ?? 0) || isPart(a) - isPart(b) ||
                          (rank(a) === 2 ? b.grain - a.grain : a.grain - b.grain));
    let gaps = [[from, to]];
    for (const set of usable)
      gaps = gaps.flatMap(([a, b]) => {
        const left = Math.max(a, set.from), right = Math.min(b, set.to);
        if (left >= right)
          return [[a, b]];
        found.push({set, lane: set.lanes.get(key), from: left, to: right});
        return [[a, left], [right, b]].filter(([begin, end]) => begin < end);
      });
    return found;
  }

  // Returns the set from which to draw arrows and waits, or null while none is exact for most of the view.
  exact(from, to) {
    const shared = (set) => Math.min(to, set.to) - Math.max(from, set.from);
    return this.#sets.find((set) => set.isExact && set.from <= from && set.to >= to) ??
           this.#sets.find((set) => set.isExact && shared(set) > (to - from) / 2) ?? null;
  }
}
