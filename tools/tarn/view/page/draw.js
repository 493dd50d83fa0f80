// SPDX-License-Identifier: BSD-2-Clause
// Draws lanes on the canvas. Colour shows the program. Height and stripes show the state, so that states can be distinguished
// without colour: running fills the lane, ready is striped, waiting is a line.
import {BOX, CALL, RUN, STATE, firstAfter} from "./data.js";
import {Raster} from "./raster.js";
import {CALL_HEIGHT, PADDING, STRIP} from "./rows.js";
import {Activity, State} from "./trace.js";

const LABEL_FONT = "11px system-ui, sans-serif";
const LABELLED = 90; // minimum pixels for the label of a wait
const KERNEL = new Set([Activity.SYSCALL, Activity.FAULT, Activity.EXCEPTION]);
const INTERRUPT = new Set([Activity.IRQ, Activity.IPI]);

// Converts times to canvas pixels, aligned to device pixels so that edges are sharp.
export class Scale {
  constructor(from, to, width, ratio = devicePixelRatio) {
    Object.assign(this, {from, to, width, ratio, factor: width / (to - from)});
  }

  x(t) {
    return (t - this.from) * this.factor;
  }

  snap(t) {
    return Math.round((t - this.from) * this.factor * this.ratio) / this.ratio;
  }

  t(x) {
    return this.from + x / this.factor;
  }
}

// Plain rectangles go into a raster, where later ones cover earlier ones. end() paints stripes and text over it.
export class LanePainter {
  #widths = new Map();
  #raster = new Raster();
  #parts = [];
  #over; // stripes and text of the current part

  constructor(context, colors, trace) {
    Object.assign(this, {context, colors, trace});
  }

  begin(scale) {
    this.scale = scale;
    this.#parts = [];
    this.#raster.begin(this.context.canvas, scale.ratio);
    this.context.font = LABEL_FONT;
    this.context.textBaseline = "middle";
  }

  // Clips the following lanes to this part of the canvas.
  part(top, bottom) {
    this.#raster.clip(top, bottom);
    this.#over = [];
    this.#parts.push({top, bottom, over: this.#over});
  }

  end() {
    const {context, scale} = this;
    this.#raster.paint(context);
    for (const {top, bottom, over} of this.#parts) {
      context.save();
      context.beginPath();
      context.rect(0, top, scale.width, bottom - top);
      context.clip();
      for (const paint of over)
        paint();
      context.restore();
    }
  }

  #stripes(x, y, width, height, color) {
    const {context, colors} = this;
    this.#over.push(() => {
      context.fillStyle = colors.stripes(context, color);
      context.fillRect(x, y, width, height);
    });
  }

  lane(row, y, pieces) {
    for (const piece of pieces) {
      if (row.kind === "process")
        this.#summary(row, piece, y);
      else if (row.kind === "cpu")
        piece.set.isExact ? this.#cpuBoxes(piece, y, row.height) : this.#cpuRuns(piece, y, row.height);
      else if (piece.set.isExact)
        this.#threadBoxes(row, piece, y);
      else
        this.#threadRuns(row, piece, y);
    }
  }

  // A folded process shows where any of its threads runs, one drawn over the other.
  #summary(row, piece, y) {
    const raster = this.#raster, {states, runs} = piece.lane, space = row.height - 6;
    const {user} = this.colors.process(row.pid);
    if (piece.set.isExact)
      this.#each(states, STATE, piece, (i, x, width) => states[i + 2] === State.RUNNING && raster.rect(x, y + 3, width, space, user, 0.7));
    else
      this.#eachRun(piece, (i, x, width) => {
        const busy = runs[i + 2] + runs[i + 3] + runs[i + 4], high = Math.max(2, space * busy / 100);
        if (busy > 0)
          raster.rect(x, y + 3 + space - high, width, high, user, 0.7);
      });
  }

  // ---- boxes

  // Calls `paint(i, x, width)` for each box in the piece that the previous box does not hide. The minimum width is one pixel.
  #each(boxes, stride, piece, paint) {
    const {scale} = this, least = 1 / scale.ratio;
    let edge = -Infinity;
    for (let i = firstAfter(boxes, stride, piece.from); i < boxes.length && boxes[i] < piece.to; i += stride) {
      const x = scale.snap(Math.max(boxes[i], piece.from)), end = scale.snap(Math.min(boxes[i + 1], piece.to));
      const right = Math.max(end, x + least);
      if (right <= edge)
        continue;
      paint(i, x, right - x);
      edge = right;
    }
  }

  #cpuBoxes(piece, y, height) {
    const {colors, trace} = this, raster = this.#raster, {boxes} = piece.lane;
    this.#unknown(piece, y, height);
    this.#each(boxes, BOX, piece, (i, x, width) => {
      const thread = trace.thread(boxes[i + 2]), activity = boxes[i + 3];
      const inKernel = KERNEL.has(activity) || (thread.idle && activity < 0);
      raster.rect(x, y + 2, width, height - 4, colors.background);
      if (activity < 0 && boxes[i + 4]) { // asleep
        raster.rect(x, y + height - 5, width, 2, colors.idle);
        return;
      }
      const color = colors.thread(thread);
      raster.rect(x, y + 3, width, height - 6,
                  INTERRUPT.has(activity) ? colors.interrupt : inKernel ? color.kernel : color.user);
      if (width > 24)
        this.#label([trace.runnerName(thread), ...(activity >= 0 ? [trace.activityName(activity, boxes[i + 4])] : [])].join(" · "), x, y + height / 2, width,
                    INTERRUPT.has(activity) ? colors.background : colors.boxText);
    });
  }

  #threadBoxes(row, piece, y) {
    const {states} = piece.lane, color = this.colors.process(row.pid);
    const top = y + PADDING;
    this.#each(states, STATE, piece, (i, x, width) => {
      const label = width > LABELLED && states[i + 2] === State.FUTEX ? this.#lockLabel(row.n, piece, states[i], states[i + 1]) : null;
      this.#state(states[i + 2], x, top, width, color, states[i + 3], label);
    });
    for (let depth = 0; depth < Math.min(piece.lane.calls.length, row.depth); depth++)
      this.#calls(piece.lane.calls[depth], piece, top + STRIP + 1 + depth * CALL_HEIGHT);
  }

  // The lock that a thread sleeps for, if known.
  #lockLabel(n, piece, begin, end) {
    const wait = piece.set.waits.get(n)?.find((one) => one.begin <= begin && one.end >= end);
    return wait ? this.trace.lockName(wait) + (wait.holder >= 0 ? `: ${this.trace.threadName(wait.holder)}` : "") : null;
  }

  #state(state, x, y, width, color, other, label = null) {
    const {colors} = this, raster = this.#raster;
    switch (state) {
    case State.RUNNING:
      raster.rect(x, y, width, STRIP, color.user);
      if (width > 40)
        this.#label(`cpu ${this.trace.cpu(other)}`, x, y + STRIP / 2, width);
      break;
    case State.READY:
      this.#ready(x, y + 3, width, STRIP - 6);
      break;
    case State.UNKNOWN:
      this.#stripes(x, y + 3, width, STRIP - 6, colors.lost);
      break;
    case State.DEAD:
      break;
    default:
      raster.rect(x, y + STRIP / 2 - 1, width, 2, colors.states[state]);
      if (width > LABELLED)
        this.#waitLabel(label ?? this.#stateLabel(state, other), x, y + STRIP / 2, width);
    }
  }

  // Draws stripes where they are visible.
  #ready(x, y, width, height) {
    if (width < 3)
      this.#raster.rect(x, y, width, height, this.colors.ready);
    else
      this.#stripes(x, y, width, height, this.colors.ready);
  }

  #stateLabel(state, other) {
    const whom = (state === State.REPLY || state === State.SEND) && other >= 0 ? `: ${this.trace.threadName(other)}` : "";
    return this.trace.stateName(state) + whom;
  }

  // Labels the line of a waiting thread with what it waits for.
  #waitLabel(label, x, y, width) {
    const text = this.#fit(label, Math.min(width - 20, 260));
    if (!text)
      return;
    const {context, colors} = this, from = Math.max(x, 0) + 8;
    if (from + this.#width(text) + 8 > x + width)
      return;
    this.#over.push(() => {
      context.fillStyle = colors.background;
      context.fillRect(from - 3, y - 6, this.#width(text) + 6, 12);
      context.fillStyle = colors.quiet;
      context.fillText(text, from, y + 0.5);
    });
  }

  #calls(boxes, piece, y) {
    const {colors, trace} = this;
    this.#each(boxes, CALL, piece, (i, x, width) => {
      this.#raster.rect(x, y, width > 2 ? width - 1 / this.scale.ratio : width, CALL_HEIGHT - 1,
                        colors.activities[boxes[i + 2]] ?? colors.quiet);
      if (width > 14)
        this.#label(width > 90 ? trace.activityName(boxes[i + 2], boxes[i + 3]) : trace.shortName(boxes[i + 2], boxes[i + 3]),
                    x, y + CALL_HEIGHT / 2, width);
    });
  }

  // ---- shares

  #eachRun(piece, paint) {
    const {runs} = piece.lane, {set} = piece, {scale} = this;
    let pixel = 0, edge = -Infinity;
    for (let i = 0; i < runs.length; pixel += runs[i], i += RUN) {
      const begin = set.from + pixel * set.grain, end = begin + runs[i] * set.grain;
      if (end <= piece.from || begin >= piece.to)
        continue;
      const x = scale.snap(Math.max(begin, piece.from)), right = scale.snap(Math.min(end, piece.to));
      if (right <= edge || right <= x)
        continue;
      paint(i, x, right - x);
      edge = right;
    }
  }

  #cpuRuns(piece, y, height) {
    const {colors, trace} = this, raster = this.#raster, {runs} = piece.lane, space = height - 6, bottom = y + height - 3;
    this.#unknown(piece, y, height);
    this.#eachRun(piece, (i, x, width) => {
      const known = runs[i + 2] + runs[i + 3] + runs[i + 4] + runs[i + 5];
      if (known === 0)
        return;
      const n = runs[i + 1], thread = n >= 0 ? trace.thread(n) : null;
      const color = colors.thread(thread);
      raster.rect(x, y + 2, width, height - 4, colors.background);
      raster.rect(x, bottom - 2, width, 2, colors.idle);
      this.#stack(x, bottom, width, space, runs, i + 2, color);
    });
  }

  #threadRuns(row, piece, y) {
    const {colors} = this, raster = this.#raster, {runs} = piece.lane, color = colors.process(row.pid);
    const top = y + PADDING;
    this.#eachRun(piece, (i, x, width) => {
      const state = runs[i + 1];
      if (runs[i + 2] + runs[i + 3] + runs[i + 4] + runs[i + 5] < 100 && state >= 0) {
        if (width > LABELLED || state === State.UNKNOWN)
          this.#state(state, x, top, width, color, -1);
        else if (state !== State.DEAD)
          raster.rect(x, top + STRIP / 2 - 1, width, 2, colors.states[state]);
      }
      this.#stack(x, top + STRIP, width, STRIP, runs, i + 2, color);
      if (runs[i + 5] > 0) // ready: drawn from the top
        this.#ready(x, top, width, Math.max(1, Math.round(STRIP * runs[i + 5] / 100)));
    });
  }

  // Draws three shares in percent of `space`, from the bottom; shares above 0 get at least a pixel.
  #stack(x, bottom, width, space, shares, at, color) {
    let y = bottom;
    for (let part = 0; part < 3; part++) {
      const share = shares[at + part];
      if (share <= 0)
        continue;
      const high = Math.max(1, Math.round(space * share / 100));
      y -= high;
      this.#raster.rect(x, y, width, high, part === 0 ? color.user : part === 1 ? color.kernel : this.colors.interrupt);
    }
  }

  // Background of a CPU's lane. It stays visible where events were lost, or where none were logged yet.
  #unknown(piece, y, height) {
    const {context, colors, scale} = this, x = scale.snap(piece.from);
    context.fillStyle = colors.stripes(context, colors.lost);
    context.fillRect(x, y + 3, scale.snap(piece.to) - x, height - 6);
  }

  // ---- text

  #width(text) {
    let width = this.#widths.get(text);
    if (width === undefined) {
      if (this.#widths.size > 5000)
        this.#widths.clear();
      this.#widths.set(text, width = this.context.measureText(text).width);
    }
    return width;
  }

  // Truncates the text to fit; "" if the result would be meaningless.
  #fit(text, space) {
    if (this.#width(text) <= space)
      return text;
    const keep = Math.floor(text.length * space / this.#width(text)) - 1;
    return keep >= 2 ? text.slice(0, keep) + "…" : "";
  }

  // A box that begins left of the canvas is labelled where it becomes visible.
  #label(text, x, y, width, color = this.colors.boxText) {
    const from = Math.max(x, 0), shown = this.#fit(text, Math.min(x + width, this.scale.width) - from - 6);
    if (!shown)
      return;
    this.#over.push(() => {
      this.context.fillStyle = color;
      this.context.fillText(shown, from + 3, y + 0.5);
    });
  }
}
