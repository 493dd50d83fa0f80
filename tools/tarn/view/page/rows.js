// The lanes, in the server's order, and which part of them is visible. A new order is requested only if the lanes change.
import {Latest, ask} from "./api.js";

export const RULER_HEIGHT = 34;
export const sizes = {}; // pixels and limits, from the server
const SUMMED = 64; // limit of threads drawn for a folded process
const KEYS = {cpu: (row) => "c" + row.rank, process: (row) => "p" + row.pid, thread: (row) => "t" + row.n};

// Numbers of the lane keys that begin with a letter, as the server expects them.
const numbers = (letter, keys) => [...keys].filter((key) => key[0] === letter && /^\d+$/.test(key.slice(1))).map((key) => key.slice(1)).join();

export class Rows {
  scroll = 0;
  width = 0; // of the canvas
  height = 0;
  fixed = [];
  moving = [];
  hiddenThreads = 0; // threads without a lane
  #all = []; // from the server
  #byKey = new Map();
  #range = null; // for which the threads are to be sorted
  #sorted = null; // the last request with another range
  #depths = new Map(); // deepest call of a thread
  #mayShrink = true;
  #wasExact = false;
  #aim = null; // lane keys; the first existing lane stays visible
  #asking;

  constructor(trace, state) {
    Object.assign(sizes, trace.sizes);
    Object.assign(this, {trace, state, onChange: () => {}});
    this.#asking = new Latest((wish, signal) => this.#load(wish, signal));
    state.on(["pins", "lane"], () => this.#layOut());
    state.on(["marks", "folded"], () => this.place());
    state.on(["lane"], () => this.onChange()); // the lane is highlighted at once
    state.on(["filter"], () => this.refresh());
  }

  get isLoaded() {
    return this.#all.length > 0; // CPUs always have lanes
  }

  // The order follows the view, but not its small steps, so that lanes do not jump.
  follow() {
    const {from, to, span} = this.state, last = this.#range;
    const isWhole = span >= this.state.duration; // always exact
    const moved = !last || span < last.span / 1.8 || span > last.span * 1.8 || Math.abs(from + to - last.from - last.to) > span * 0.7;
    if (moved || isWhole !== last.isWhole) {
      this.#range = {from, to, span, isWhole};
      this.#layOut();
    }
  }

  refresh() {
    this.#range = null;
    this.follow();
  }

  #layOut() {
    const {filter, pins, lane} = this.state;
    if (this.#range)
      this.#asking.want({from: this.#range.from, to: this.#range.to, filter: filter.trim() || null, pins: numbers("t", pins),
                         chosen: lane?.[0] === "t" ? lane.slice(1) : null});
  }

  async #load(wish, signal) {
    const reply = await ask("rows", wish, signal);
    for (const row of reply.rows)
      row.key = KEYS[row.kind](row);
    this.hiddenThreads = reply.hidden;
    if (wish.from !== this.#sorted?.from || wish.to !== this.#sorted.to) {
      this.#sorted = wish;
      this.#mayShrink = true;
    }
    this.#all = reply.rows;
    this.place();
  }

  // Updates the depth of nested calls in the view. Lanes grow at once, but shrink only together with another change of the
  // layout: a new order, or calls that are no longer shown individually.
  takeDepths(depths, isExact) {
    if (!depths)
      return;
    const shrinks = this.#mayShrink || isExact !== this.#wasExact;
    const before = this.#depths, isOther = (a, b) => [...a].some(([n, depth]) => depth !== (b.get(n) ?? 0));
    this.#depths = new Map(shrinks ? depths : before);
    for (const [n, depth] of shrinks ? [] : depths)
      this.#depths.set(n, Math.max(before.get(n) ?? 0, depth));
    this.#mayShrink = false;
    this.#wasExact = isExact;
    if (isOther(this.#depths, before) || isOther(before, this.#depths))
      this.place();
  }

  // Puts the rows one below the other.
  #stack(rows) {
    const {cpu, head, strip, call, padding} = sizes;
    let y = 0;
    for (const row of rows) {
      const depth = row.kind === "thread" ? this.#depths.get(row.n) ?? 0 : 0;
      row.folded = this.state.folded.has(row.key);
      row.canFold = row.kind === "process" || depth > 0;
      row.depth = row.folded ? 0 : depth;
      row.height = row.kind === "cpu" ? cpu : row.kind === "process" ? head : strip + 2 * padding + row.depth * call;
      row.y = y;
      y += row.height;
    }
    return y;
  }

  get top() { // of the first lane
    return RULER_HEIGHT + this.state.marks.size * sizes.mark;
  }

  row(key) {
    return this.#byKey.get(key);
  }

  // CPUs and pinned lanes stay on top while they leave space. The selected lane keeps its place on the screen, unless the top of
  // the list is visible.
  place() {
    const {lane} = this.state, before = this.#byKey.get(lane), was = before && {...before};
    const shown = this.#all.filter((row) => !row.inner || !this.state.folded.has("p" + row.pid)), end = this.#stack(shown);
    const height = shown.find((row) => row.kind !== "cpu" && !row.pinned)?.y ?? end;
    const isFixed = height <= (this.height - this.top) * 0.6;
    this.fixedHeight = isFixed && height ? height + 5 : 0;
    this.movingHeight = isFixed ? end - height : end;
    const rows = shown.map((row) => ({...row, isFixed: isFixed && row.y < height, y: isFixed && row.y >= height ? row.y - height : row.y}));
    this.fixed = rows.filter((row) => row.isFixed);
    this.moving = rows.filter((row) => !row.isFixed);
    this.#byKey = new Map(rows.map((row) => [row.key, row]));
    const now = was && this.#byKey.get(lane);
    if (now && !now.isFixed && !was.isFixed && this.scroll > 0)
      this.scroll += now.y - was.y;
    this.scrollTo(this.scroll);
    this.#reveal();
    this.onChange();
  }

  get movingTop() {
    return this.top + this.fixedHeight;
  }

  scrollTo(y) {
    this.scroll = Math.max(0, Math.min(y, this.movingHeight - (this.height - this.movingTop)));
  }

  // The position of a row on the canvas.
  yOf(row) {
    return row.isFixed ? this.top + row.y : this.movingTop + row.y - this.scroll;
  }

  isVisible(row) {
    const y = this.yOf(row);
    return y < this.height && (row.isFixed || y + row.height > this.movingTop);
  }

  get lanes() {
    return [...this.fixed, ...this.moving];
  }

  get visible() {
    return this.lanes.filter((row) => this.isVisible(row));
  }

  // The lanes whose data is needed: visible ones, and one screen above and below.
  get wanted() {
    const near = [...this.fixed, ...this.moving.filter((row) => {
      const y = this.yOf(row);
      return (row.kind !== "process" || row.folded) && y < this.height * 2 && y + row.height > -this.height;
    })];
    return near.flatMap((row) => (row.kind === "process" ? this.summed(row) : [row.key]));
  }

  // The lanes from which a folded process is drawn.
  summed(row) {
    return row.members.slice(0, SUMMED).map((n) => "t" + n);
  }

  // Folds all processes, or unfolds them if all are folded.
  foldAll() {
    const keys = this.moving.filter((row) => row.kind === "process").map((row) => row.key);
    const folded = new Set(this.state.folded), fold = keys.some((key) => !folded.has(key));
    for (const key of keys)
      fold ? folded.add(key) : folded.delete(key);
    this.state.change({folded});
  }

  at(y) {
    if (y < this.top || y >= this.height)
      return null;
    const isFixed = y < this.movingTop, inside = isFixed ? y - this.top : y - this.movingTop + this.scroll;
    return (isFixed ? this.fixed : this.moving).find((row) => inside >= row.y && inside < row.y + row.height) ?? null;
  }

  // Scrolls to the first existing lane of these, and again after each new layout, because lanes move as their data arrives. Null:
  // the user scrolls.
  aim(keys) {
    this.#aim = keys;
    this.#reveal();
  }

  #reveal() {
    const row = this.first(this.#aim);
    if (!row || row.isFixed)
      return;
    const y = this.yOf(row);
    if (y < this.movingTop)
      this.scrollTo(row.y);
    else if (y + row.height > this.height)
      this.scrollTo(row.y + Math.min(0, row.height - (this.height - this.movingTop)));
  }

  // The first existing lane of these keys.
  first(keys) {
    return keys?.map((key) => this.#byKey.get(key)).find(Boolean);
  }

  // Selects the next lane up or down.
  next(key, step) {
    const all = this.lanes.filter((row) => row.kind !== "process");
    const at = all.findIndex((row) => row.key === key);
    return all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]?.key ?? null;
  }
}
