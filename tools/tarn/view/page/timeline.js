// SPDX-License-Identifier: BSD-2-Clause
// The timeline: two canvases, one for the view and one for what follows the pointer, and the names beside them. Each animation
// frame draws all changes at once.
import {drawArrows, drawWaits, visibleArrows} from "./arrows.js";
import {drawFlags, drawMarks, flagAt} from "./mark-rows.js";
import {LanePainter, Scale, hit} from "./paint.js";
import {RULER_HEIGHT} from "./rows.js";
import {drawGrid, drawLabel, drawPlaces, drawRuler, drawSelection} from "./ruler.js";
import {formatTime} from "./time.js";
import {wheelPixels} from "./wheel.js";

export class Timeline {
  #frame = 0;
  #sceneIsOld = true;
  #pointer = null; // {x, y, clientX, clientY}
  frames = {count: 0, last: 0, longest: 0}; // drawing times in ms; tests read this

  constructor(parts) {
    Object.assign(this, parts); // area, scene, overlay, scroller, trace, state, rows, data, counts, names, overview, tooltip, colors
    this.painter = new LanePainter(this.scene.getContext("2d"), this.colors);
    this.scroller.addEventListener("scroll", () => this.#takeScroll());
    this.names.root.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scrollBy(wheelPixels(event).dy);
    }, {passive: false});
    this.onResize = () => {};
    this.onArrows = () => {}; // gets the number of arrows not drawn
  }

  start() {
    new ResizeObserver(() => this.resize()).observe(this.area);
    this.resize();
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.area;
    if (width === this.rows.width && height === this.rows.height && devicePixelRatio === this.ratio)
      return;
    this.ratio = devicePixelRatio;
    for (const canvas of [this.scene, this.overlay]) {
      canvas.width = Math.round(width * devicePixelRatio);
      canvas.height = Math.round(height * devicePixelRatio);
    }
    this.rows.width = width;
    this.rows.height = height;
    this.overview.resize();
    this.onResize();
    this.#paintScene(); // at once, because a resized canvas is empty
  }

  get scale() {
    return new Scale(this.state.from, this.state.to, Math.max(1, this.rows.width));
  }

  // Keys zoom at the pointer, else at the cursor, else in the middle.
  get focus() {
    const {cursor, from, to} = this.state;
    if (this.#pointer)
      return this.scale.t(this.#pointer.x);
    return cursor && cursor.t >= from && cursor.t <= to ? cursor.t : undefined;
  }

  redraw(onlyOverlay = false) {
    this.#sceneIsOld ||= !onlyOverlay;
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    const begin = performance.now();
    if (this.#sceneIsOld)
      this.#paintScene();
    this.#paintOverlay();
    this.#tell();
    this.frames.count++;
    this.frames.last = performance.now() - begin;
    this.frames.longest = Math.max(this.frames.longest, this.frames.last);
  }

  #paintScene() {
    this.#sceneIsOld = false;
    const {state, rows, colors, painter, scale} = this, {context} = painter, {width, height} = rows;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = colors.background;
    context.fillRect(0, 0, width, height);
    drawGrid(context, scale, height, colors);
    painter.begin(scale);
    this.#part(rows.moving, rows.movingTop, height);
    this.#part(rows.fixed, rows.top, rows.fixedHeight);
    painter.end();
    if (rows.fixedHeight) {
      context.fillStyle = colors.lineStrong;
      context.fillRect(0, rows.movingTop - 2, width, 1);
    }
    this.#links(context, scale);
    drawFlags(context, scale, this.counts, state, rows, this.trace, colors);
    drawRuler(context, scale, colors);
    drawMarks(context, scale, this.counts, state, colors);
    drawPlaces(context, scale, state.places, height, colors);
    if (state.selection)
      drawSelection(context, scale, state.selection, height, colors);
    this.overview.draw();
  }

  #part(list, top, height) {
    const {rows, state, data, colors, painter, scale} = this, {context} = painter;
    context.save();
    context.beginPath();
    context.rect(0, top, rows.width, height);
    context.clip();
    painter.part(top, top + height);
    for (const row of list.filter((candidate) => rows.isVisible(candidate))) {
      const y = rows.yOf(row);
      if (state.lane === row.key) {
        context.fillStyle = colors.accent;
        context.globalAlpha = 0.1;
        context.fillRect(0, y, rows.width, row.height);
        context.globalAlpha = 1;
      }
      for (const key of row.kind !== "process" ? [row.key] : row.folded ? rows.summed(row) : [])
        painter.lane(row, y, data.pieces(key, state.from, state.to));
      context.fillStyle = colors.line;
      context.fillRect(0, y + row.height - 1, rows.width, 1);
    }
    context.restore();
  }

  #links(context, scale) {
    const {rows, state} = this, set = this.data.exact(state.from, state.to);
    context.save();
    context.beginPath();
    context.rect(0, rows.top, rows.width, rows.height);
    context.clip();
    drawWaits(context, set, rows, scale, this.colors);
    const {all, drawn} = visibleArrows(set, rows, state, scale);
    this.arrows = drawn;
    this.onArrows(all - drawn.length);
    drawArrows(context, drawn, this.colors, state.lane);
    context.restore();
  }

  #paintOverlay() {
    const context = this.overlay.getContext("2d"), {rows, state, colors, scale} = this;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, rows.width, rows.height);
    if (state.cursor) {
      const x = scale.snap(state.cursor.t);
      context.fillStyle = colors.accent;
      context.fillRect(x - 0.5, 0, 2, rows.height);
      context.beginPath();
      context.moveTo(x - 5, RULER_HEIGHT - 8);
      context.lineTo(x + 6, RULER_HEIGHT - 8);
      context.lineTo(x + 0.5, RULER_HEIGHT);
      context.fill();
    }
    this.#paintEvent(context, scale);
    if (this.#pointer)
      this.#paintPointer(context, scale);
  }

  // Draws a ring at the event of the cursor.
  #paintEvent(context, scale) {
    const {rows, state, colors} = this, row = rows.first(state.cursor?.lanes);
    if (!row || !rows.isVisible(row) || rows.yOf(row) < (row.isFixed ? 0 : rows.movingTop - row.height / 2))
      return;
    context.strokeStyle = colors.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(scale.snap(state.cursor.t) + 0.5, rows.yOf(row) + Math.min(row.height / 2, 12), 6, 0, 2 * Math.PI);
    context.stroke();
  }

  #paintPointer(context, scale) {
    const {colors, rows} = this, {x} = this.#pointer, text = formatTime(scale.t(x), 1 / scale.factor);
    context.fillStyle = colors.quiet;
    context.globalAlpha = 0.5;
    context.fillRect(Math.round(x), RULER_HEIGHT, 1, rows.height);
    context.globalAlpha = 1;
    drawLabel(context, text, (space) => Math.min(Math.max(x - space / 2, 0), rows.width - space), colors.text, colors.background, {radius: 3});
  }

  // ---- actions of pointer and keys

  hover(event) {
    this.#pointer = event && {x: event.offsetX, y: event.offsetY, clientX: event.clientX, clientY: event.clientY};
    this.redraw(true);
  }

  // Called for each frame, because lanes also move under a resting pointer.
  #tell() {
    if (!this.#pointer) {
      this.tooltip.hide();
      return;
    }
    const {x, y, clientX, clientY} = this.#pointer, found = hit(x, y, this.scale, this.rows, this.data);
    const arrow = this.#arrowAt(x, y), flag = this.#flagAt(x, y);
    if (found || arrow)
      this.tooltip.show(found ?? {row: {}}, clientX, clientY, {arrow, flag});
    else
      this.tooltip.hide();
  }

  #arrowAt(x, y) {
    return (this.arrows ?? []).find(({x0, y0, x1, y1}) => Math.hypot(x - x1, y - y1) < 6 || Math.hypot(x - x0, y - y0) < 4);
  }

  #flagAt(x, y) {
    return flagAt(x, y, this.scale, this.counts, this.state, this.rows, this.trace);
  }

  // On a flag, returns the exact time of its event.
  click(event) {
    const t = this.#flagAt(event.offsetX, event.offsetY)?.t ?? Math.min(Math.max(0, Math.round(this.scale.t(event.offsetX))), this.state.duration);
    const row = this.rows.at(event.offsetY);
    this.state.change({cursor: {t, n: null}, ...(row && row.kind !== "process" ? {lane: row.key} : {})});
  }

  // A double click fits the box into the view, with a small margin.
  zoomTo(x, y) {
    const found = hit(x, y, this.scale, this.rows, this.data);
    const box = found?.boxes?.[found.depth] ?? found?.boxes?.[0];
    if (box) {
      const margin = (box.end - box.begin) * 0.15;
      this.select(box.begin, box.end);
      this.state.show(box.begin - margin, box.end + margin);
    } else {
      this.state.zoom(0.25, this.scale.t(x));
    }
  }

  select(from, to) {
    this.state.change({selection: to - from >= 1 ? {from: Math.round(from), to: Math.round(to)} : null});
  }

  fitSelection() {
    const {selection} = this.state;
    if (selection)
      this.state.show(selection.from, selection.to);
  }

  forget() {
    this.state.change({selection: null, lane: null, cursor: null});
  }

  toEnd() {
    const {state, trace} = this;
    state.show(state.duration - state.span, state.duration);
    if (trace.live)
      state.change({follow: true});
  }

  // The user moved the scroll bar, or it follows the lanes.
  #takeScroll() {
    if (Math.abs(this.scroller.scrollTop - this.rows.scroll) >= 1)
      this.scrollTo(this.scroller.scrollTop);
  }

  // Moved by the user.
  scrollTo(y) {
    if (Math.abs(y - this.rows.scroll) < 0.5)
      return;
    this.rows.release();
    this.rows.scrollTo(y);
    this.#hasScrolled();
  }

  scrollBy(dy) {
    this.scrollTo(Math.max(0, this.rows.scroll + dy));
  }

  #hasScrolled() {
    this.followScroll();
    this.names.place();
    this.data.follow();
    this.redraw();
  }

  // Call this after the lanes have moved.
  followScroll() {
    if (Math.abs(this.scroller.scrollTop - this.rows.scroll) >= 1)
      this.scroller.scrollTop = this.rows.scroll;
  }

  // Makes the first existing lane of these visible.
  aim(keys) {
    this.rows.aim(keys);
    this.#hasScrolled();
  }

  nextLane(step) {
    const key = this.rows.next(this.state.lane, step);
    this.state.change({lane: key});
    if (key)
      this.aim([key]);
  }

  foldLane() {
    if (this.state.lane?.[0] === "t")
      this.names.toggle("folded", this.state.lane);
  }

  pinLane() {
    if (this.state.lane?.[0] === "t")
      this.names.toggle("pins", this.state.lane);
  }
}
