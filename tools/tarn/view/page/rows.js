// SPDX-License-Identifier: BSD-2-Clause
// The lanes, their order and positions. CPUs and pinned lanes stay on top while they leave space; the others scroll. Threads
// that were active in the view come first, grouped by process.
import {Latest, ask} from "./api.js";

export const CPU_HEIGHT = 24, STRIP = 14, CALL_HEIGHT = 14, PADDING = 5, HEAD_HEIGHT = 20, MARK_HEIGHT = 15, RULER_HEIGHT = 34;
const MOST = 400; // threads
const ALL = 1000000;
const SUMMED = 64; // limit of threads drawn for a folded process

export class Rows {
  scroll = 0;
  width = 0; // of the canvas
  height = 0;
  fixed = [];
  moving = [];
  #byKey = new Map();
  #active = []; // {n, ran, ready, blocked}, sorted
  hiddenThreads = 0; // threads without a lane
  #sortedFor = null; // the range
  #depths = new Map(); // deepest call of a thread
  #mayShrink = true;
  #wasExact = false;
  #aim = null; // lane keys; the first existing lane stays visible
  #asking;

  constructor(trace, state) {
    this.trace = trace;
    this.state = state;
    this.onChange = () => {};
    this.#asking = new Latest((range, signal) => this.#load(range, signal));
    state.on(["sort", "filter", "pins", "folded", "lane", "marks"], () => this.layOut());
    state.on(["filter"], () => this.refresh()); // a filter searches all threads, not only those that ran longest
  }

  // The order follows the view, but not its small steps, so that lanes do not jump.
  follow() {
    const {from, to, span} = this.state, last = this.#sortedFor;
    const isWhole = span >= this.state.duration; // always exact
    const moved = !last || span < last.span / 1.8 || span > last.span * 1.8 || Math.abs(from + to - last.from - last.to) > span * 0.7;
    if (moved || isWhole !== last.isWhole) {
      this.#sortedFor = {from, to, span, isWhole};
      this.#asking.want({from, to});
    }
  }

  refresh() {
    this.#sortedFor = null;
    this.follow();
  }

  async #load({from, to}, signal) {
    const answer = await ask("threads", {from, to, limit: this.state.filter ? ALL : MOST}, signal);
    this.#active = answer.threads.filter((row) => !this.trace.thread(row.n).idle);
    this.total = answer.total;
    this.cpuUse = new Map(answer.cpus.map((cpu) => [cpu.rank, cpu]));
    this.#mayShrink = true;
    this.layOut();
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
      this.layOut();
  }

  get top() { // of the first lane
    return RULER_HEIGHT + this.state.marks.size * MARK_HEIGHT;
  }

  row(key) {
    return this.#byKey.get(key);
  }

  #matches(n) {
    const filter = this.state.filter.trim().toLowerCase();
    if (!filter)
      return true;
    const thread = this.trace.thread(n);
    return `${thread.name} ${this.trace.processName(thread.pid)} ${thread.tid}`.toLowerCase().includes(filter);
  }

  #threadRow(n, use, inProcess) {
    const key = "t" + n, thread = this.trace.thread(n), isFolded = this.state.folded.has(key);
    const depth = isFolded ? 0 : this.#depths.get(n) ?? 0;
    return {key, kind: "thread", n, pid: thread.pid, use, isFolded, depth, inProcess, canFold: (this.#depths.get(n) ?? 0) > 0,
            height: STRIP + PADDING * 2 + depth * CALL_HEIGHT};
  }

  // Processes with their threads. A process with one thread appears as that thread.
  #groups() {
    const groups = new Map();
    const matching = this.#active.filter((use) => this.#matches(use.n));
    this.hiddenThreads = this.state.filter ? Math.max(0, matching.length - MOST) : Math.max(0, (this.total ?? 0) - MOST);
    for (const use of this.#withChosen(matching.slice(0, MOST), matching)) {
      const {pid} = this.trace.thread(use.n);
      if (!groups.has(pid))
        groups.set(pid, {pid, name: this.trace.processName(pid), ran: 0, busy: 0, members: []});
      const group = groups.get(pid);
      group.ran += use.ran;
      group.busy += use.ran + use.ready;
      group.members.push(use);
    }
    const {sort} = this.state, all = [...groups.values()], tid = (use) => this.trace.thread(use.n).tid;
    const name = (use) => this.trace.threadName(use.n);
    const idleLast = (a, b) => Number(b.busy > 0) - Number(a.busy > 0);
    all.sort((a, b) => idleLast(a, b) || (sort === "name" ? a.name.localeCompare(b.name) || a.pid - b.pid
                                          : sort === "tid" ? a.pid - b.pid : b.ran - a.ran || a.pid - b.pid));
    for (const group of all)
      group.members.sort((a, b) => (sort === "name" ? name(a).localeCompare(name(b)) : sort === "tid" ? tid(a) - tid(b)
                                    : b.ran - a.ran || tid(a) - tid(b)));
    return all;
  }

  // The selected thread always has a lane, even if it is not active in the view.
  #withChosen(uses, matching) {
    const {lane} = this.state, n = lane?.[0] === "t" ? Number(lane.slice(1)) : -1;
    if (n < 0 || this.trace.thread(n).idle || !this.#matches(n) || uses.some((use) => use.n === n))
      return uses;
    return [...uses, matching.find((use) => use.n === n) ?? {n, ran: 0, ready: 0, blocked: 0}];
  }

  layOut() {
    const anchor = this.state.lane && this.#byKey.get(this.state.lane);
    const {pins, folded} = this.state, fixed = [], moving = [];
    for (const {rank} of this.trace.cpusInOrder)
      fixed.push({key: "c" + rank, kind: "cpu", rank, height: CPU_HEIGHT, use: this.cpuUse?.get(rank)});
    const uses = new Map(this.#active.map((use) => [use.n, use]));
    for (const key of pins)
      if (key.startsWith("t"))
        fixed.push({...this.#threadRow(Number(key.slice(1)), uses.get(Number(key.slice(1)))), isPinned: true});
    for (const group of this.#groups()) {
      const isFolded = folded.has("p" + group.pid), isTree = group.members.length > 1;
      if (isTree)
        moving.push({key: "p" + group.pid, kind: "process", pid: group.pid, height: HEAD_HEIGHT, isFolded, use: group,
                     members: group.members});
      for (const use of isTree && isFolded ? [] : group.members)
        if (!pins.has("t" + use.n))
          moving.push(this.#threadRow(use.n, use, isTree));
    }
    this.#place(fixed, moving, anchor);
    this.onChange();
  }

  // The selected lane keeps its place on the screen, unless the top of the list is visible.
  #place(fixed, moving, anchor) {
    const height = fixed.reduce((sum, row) => sum + row.height, 0);
    if (height > (this.height - this.top) * 0.6)
      moving.unshift(...fixed.splice(0));
    this.fixed = fixed;
    this.moving = moving;
    this.#byKey = new Map();
    let y = 0;
    for (const row of fixed) {
      row.y = y;
      row.isFixed = true;
      y += row.height;
    }
    this.fixedHeight = y ? y + 5 : 0;
    y = 0;
    for (const row of moving) {
      row.y = y;
      y += row.height;
    }
    this.movingHeight = y;
    for (const row of [...moving, ...fixed])
      this.#byKey.set(row.key, row);
    const now = anchor && this.#byKey.get(anchor.key);
    if (now && !now.isFixed && !anchor.isFixed && this.scroll > 0)
      this.scroll += now.y - anchor.y;
    this.scrollTo(this.scroll);
    this.#reveal();
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
    return [...this.fixed, ...this.moving].filter((row) => this.isVisible(row));
  }

  // The lanes whose data is needed: visible ones, and one screen above and below.
  get wanted() {
    const near = [...this.fixed, ...this.moving.filter((row) => {
      const y = this.yOf(row);
      return (row.kind !== "process" || row.isFolded) && y < this.height * 2 && y + row.height > -this.height;
    })];
    return near.flatMap((row) => (row.kind === "process" ? this.summed(row) : [row.key]));
  }

  // The lanes from which a folded process is drawn.
  summed(row) {
    return row.members.slice(0, SUMMED).map((use) => "t" + use.n);
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

  // Scrolls to the first existing lane of these, and again after each new layout, because lanes move as their data arrives.
  aim(keys) {
    this.#aim = keys;
    this.#reveal();
  }

  // The user scrolls.
  release() {
    this.#aim = null;
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
    const all = [...this.fixed, ...this.moving].filter((row) => row.kind !== "process");
    const at = all.findIndex((row) => row.key === key);
    return all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)]?.key ?? null;
  }
}
