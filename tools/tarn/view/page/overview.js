// The overview of the whole trace: how busy each CPU was, and which part the view shows.
import {Latest, ask} from "./api.js";
import {Scale, box, contextOf, resize} from "./canvas.js";
import {BOX, WIDEST, busyShare, newSet, takeLanes} from "./data.js";
import {wheelPixels} from "./input.js";
import {LanePainter} from "./paint.js";

const NARROWEST = 4; // minimum height of a lane in pixels
const EDGE = 5; // pixels around the edges of the view that can be dragged

export class Overview {
  #data = null;
  #grip = null;
  #lanePicture = document.createElement("canvas");
  #made = null; // the data of the picture
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
    resize(this.canvas, this.canvas.clientWidth, this.canvas.clientHeight);
    this.refresh();
  }

  refresh() {
    this.#asking.want({width: Math.min(WIDEST, Math.max(50, this.canvas.clientWidth))});
  }

  async #load({width}, signal) {
    const reply = await ask("lanes", {from: 0, width, threads: "none"}, signal), set = newSet(reply);
    takeLanes(reply, set);
    this.#data = set;
    this.redraw();
  }

  get #scale() {
    return new Scale(0, this.state.duration, this.canvas.clientWidth);
  }

  draw() {
    const {canvas, colors, state} = this, context = contextOf(canvas), {clientWidth: width, clientHeight: height} = canvas, scale = this.#scale;
    box(context, colors.background, 0, 0, width, height);
    this.#picture(context, scale, width, height);
    if (state.selection)
      box(context, colors.selection, scale.x(state.selection.from), 0, Math.max(2, scale.x(state.selection.to) - scale.x(state.selection.from)), height, 0.35);
    this.#window(context, scale, width, height);
  }

  // The lanes do not depend on the view; they are painted again only if their data changes.
  #picture(context, scale, width, height) {
    const {width: pixels, height: lines} = this.canvas;
    if (!pixels || !lines) // no space in a small window, or the canvas has no size yet
      return;
    const made = [this.#data, this.state.duration, this.colors.patterns, pixels, lines];
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
    const set = this.#data;
    if (!set || set.lanes.size === 0)
      return;
    const lanes = this.trace.cpusInOrder.map(({rank}) => set.lanes.get("c" + rank)).filter(Boolean), space = (height - 4) / lanes.length;
    if (!set.isExact && space < NARROWEST) {
      this.#sum(context, scale, set, lanes, height);
      return;
    }
    const painter = new LanePainter(context, this.colors);
    painter.begin(scale);
    painter.part(0, height);
    lanes.forEach((lane, i) => painter.lane({kind: "cpu", height: space}, 2 + space * i, [{set, lane, from: set.from, to: set.to}]));
    painter.end();
  }

  // Without space for one lane per CPU, shows how many CPUs are busy.
  #sum(context, scale, data, lanes, height) {
    const busy = new Float64Array(data.width), {grain} = data;
    for (const {rows: [boxes]} of lanes)
      for (let i = 0, pixel = 0; i < boxes.length; i += BOX)
        for (const end = Math.round((boxes[i + 1] - data.from) / grain); pixel < end; pixel++)
          busy[pixel] += busyShare(boxes[i + 3]) / 100;
    context.fillStyle = this.colors.quiet;
    busy.forEach((count, pixel) => {
      const high = (height - 4) * count / lanes.length, x = scale.x(data.from + pixel * grain);
      context.fillRect(x, height - 2 - high, scale.x(data.from + (pixel + 1) * grain) - x, high);
    });
  }

  // Dims the parts outside the view.
  #window(context, scale, width, height) {
    const {colors, state} = this, middle = scale.x((state.from + state.to) / 2);
    const half = Math.max(2, (scale.x(state.to) - scale.x(state.from)) / 2), left = middle - half, right = middle + half;
    box(context, colors.raised, 0, 0, left, height, 0.65);
    box(context, colors.raised, right, 0, width - right, height, 0.65);
    context.strokeStyle = colors.accent;
    context.lineWidth = 1.5;
    context.strokeRect(left, 0.75, right - left, height - 1.5);
  }

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
