// SPDX-License-Identifier: BSD-2-Clause
// The overview of the whole trace: how busy each CPU was, and which part the view shows. Dragging the view pans; dragging
// beside it selects another view.
import {Latest, ask} from "./api.js";
import {BOX, RUN, WIDEST, nothingKnown} from "./data.js";
import {Scale} from "./draw.js";
import {wheelPixels} from "./wheel.js";

const NARROWEST = 4; // minimum height of a lane in pixels
const EDGE = 5; // pixels around the edges of the view that can be dragged

export class Overview {
  #data = null;
  #grip = null;
  #lanePicture = document.createElement("canvas");
  #made = null; // what the picture was made from
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  constructor(canvas, trace, state, colors, redraw) {
    Object.assign(this, {canvas, trace, state, colors, redraw});
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", () => this.#grip = null);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      state.zoom(Math.exp(wheelPixels(event).dy * 0.002));
    }, {passive: false});
  }

  resize() {
    const {clientWidth, clientHeight} = this.canvas;
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.refresh();
  }

  refresh() {
    this.#asking.want({width: Math.min(WIDEST, Math.max(50, this.canvas.clientWidth))});
  }

  async #load({width}, signal) {
    this.#data = await ask("lanes", {from: 0, width, threads: "none", arrows: 0}, signal);
    this.redraw();
  }

  get #scale() {
    return new Scale(0, this.state.duration, this.canvas.clientWidth);
  }

  draw() {
    const {canvas, colors, state} = this, context = canvas.getContext("2d"), {clientWidth: width, clientHeight: height} = canvas;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = colors.background;
    context.fillRect(0, 0, width, height);
    const scale = this.#scale;
    this.#picture(context, scale, width, height);
    if (state.selection) {
      context.fillStyle = colors.selection;
      context.globalAlpha = 0.35;
      const x = scale.x(state.selection.from);
      context.fillRect(x, 0, Math.max(2, scale.x(state.selection.to) - x), height);
      context.globalAlpha = 1;
    }
    context.fillStyle = colors.accent;
    for (const place of state.places)
      context.fillRect(scale.x(place.from), 0, Math.max(2, scale.x(place.to) - scale.x(place.from)), 3);
    this.#window(context, scale, width, height);
  }

  // The lanes do not depend on the view; they are painted again only if their data changes.
  #picture(context, scale, width, height) {
    const {width: pixels, height: lines} = this.canvas;
    if (!pixels || !lines) // no space in a small window, or the canvas has no size yet
      return;
    const made = [this.#data, this.state.duration, this.trace.threads, this.colors.patterns, pixels, lines];
    if (made.some((part, i) => part !== this.#made?.[i])) {
      this.#made = made;
      Object.assign(this.#lanePicture, {width: pixels, height: lines}); // clears it
      const painter = this.#lanePicture.getContext("2d");
      painter.scale(devicePixelRatio, devicePixelRatio);
      this.#lanes(painter, scale, height);
    }
    context.drawImage(this.#lanePicture, 0, 0, pixels / devicePixelRatio, lines / devicePixelRatio);
  }

  #lanes(context, scale, height) {
    const data = this.#data;
    if (!data || data.cpus.length === 0)
      return;
    const byRank = new Map(data.cpus.map((lane) => [lane.rank, lane]));
    const lanes = this.trace.cpusInOrder.map(({rank}) => byRank.get(rank) ?? nothingKnown(rank));
    if (!data.exact && height / lanes.length < NARROWEST) {
      this.#sum(context, scale, data, lanes, height);
      return;
    }
    const space = (height - 4) / lanes.length;
    lanes.forEach((lane, i) => {
      const bottom = 2 + space * (i + 1);
      context.fillStyle = this.colors.stripes(context, this.colors.lost); // stays visible where nothing is known
      context.fillRect(0, bottom - space + 1, scale.width, space - 1);
      if (data.exact)
        this.#boxes(context, scale, lane.boxes, bottom, space);
      else
        this.#runs(context, scale, data, lane.runs, bottom, space);
    });
  }

  // Without space for one lane per CPU, shows how many CPUs are busy.
  #sum(context, scale, data, lanes, height) {
    const busy = new Float64Array(data.width), grain = (data.to - data.from) / data.width;
    for (const {runs} of lanes)
      for (let i = 0, pixel = 0; i < runs.length; i += RUN)
        for (const end = pixel + runs[i]; pixel < end; pixel++)
          busy[pixel] += (runs[i + 2] + runs[i + 3] + runs[i + 4]) / 100;
    context.fillStyle = this.colors.quiet;
    busy.forEach((count, pixel) => {
      const high = (height - 4) * count / lanes.length, x = scale.x(data.from + pixel * grain);
      context.fillRect(x, height - 2 - high, scale.x(data.from + (pixel + 1) * grain) - x, high);
    });
  }

  #color(n) {
    const thread = this.trace.thread(n);
    return this.colors.thread(thread).user;
  }

  #boxes(context, scale, boxes, bottom, space) {
    for (let i = 0; i < boxes.length; i += BOX) {
      const isAsleep = boxes[i + 3] < 0 && boxes[i + 4];
      context.fillStyle = isAsleep ? this.colors.background : this.#color(boxes[i + 2]);
      const x = scale.x(boxes[i]);
      context.fillRect(x, bottom - space + 1, Math.max(0.5, scale.x(boxes[i + 1]) - x), space - 1);
    }
  }

  #runs(context, scale, data, runs, bottom, space) {
    const grain = (data.to - data.from) / data.width;
    let pixel = 0;
    for (let i = 0; i < runs.length; pixel += runs[i], i += RUN) {
      const x = scale.x(data.from + pixel * grain), width = scale.x(data.from + (pixel + runs[i]) * grain) - x;
      const busy = runs[i + 2] + runs[i + 3] + runs[i + 4], high = (space - 1) * busy / 100;
      if (busy + runs[i + 5] === 0)
        continue; // unknown
      context.fillStyle = this.colors.background;
      context.fillRect(x, bottom - space + 1, width, space - 1);
      context.fillStyle = runs[i + 1] >= 0 ? this.#color(runs[i + 1]) : this.colors.quiet;
      context.fillRect(x, bottom - high, width, high);
    }
  }

  // Dims what is outside the view.
  #window(context, scale, width, height) {
    const {colors, state} = this, middle = scale.x((state.from + state.to) / 2);
    const half = Math.max(2, (scale.x(state.to) - scale.x(state.from)) / 2), left = middle - half, right = middle + half;
    context.fillStyle = colors.raised;
    context.globalAlpha = 0.65;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = colors.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left, 0.75, right - left, height - 1.5);
  }

  // ---- pointer

  #press(event) {
    const scale = this.#scale, t = scale.t(event.offsetX), {from, to, span} = this.state;
    this.canvas.setPointerCapture(event.pointerId);
    const near = (edge) => Math.abs(event.offsetX - scale.x(edge)) < EDGE;
    if (near(from) && scale.x(span) > 4 * EDGE)
      this.#grip = {fixed: to};
    else if (near(to) && scale.x(span) > 4 * EDGE)
      this.#grip = {fixed: from};
    else if (t >= from - 8 / scale.factor && t <= to + 8 / scale.factor && span < this.state.duration)
      this.#grip = {offset: t - from};
    else
      this.#grip = {fixed: t, isNew: true, x: event.offsetX};
  }

  #move(event) {
    const scale = this.#scale, t = scale.t(event.offsetX), {from, to, span} = this.state, grip = this.#grip;
    if (!grip) {
      const isEdge = [from, to].some((edge) => Math.abs(event.offsetX - scale.x(edge)) < EDGE);
      this.canvas.style.cursor = isEdge ? "ew-resize" : t > from && t < to && span < this.state.duration ? "grab" : "crosshair";
    } else if (grip.offset !== undefined) {
      this.state.show(t - grip.offset, t - grip.offset + span);
    } else if (!grip.isNew || Math.abs(event.offsetX - grip.x) > 3) {
      this.state.show(Math.min(grip.fixed, t), Math.max(grip.fixed, t));
    }
  }
}
