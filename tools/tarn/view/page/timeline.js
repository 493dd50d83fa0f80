// The timeline: two canvases, one for the view and one for what follows the pointer, and the names beside them.
import {Scale, box, clipped, contextOf, polygon, resize} from "./canvas.js";
import {wheelPixels} from "./input.js";
import {drawArrows, drawFlags, drawWaits, flagAt, visibleArrows} from "./links.js";
import {LanePainter, hit} from "./paint.js";
import {RULER_HEIGHT, sizes} from "./rows.js";
import {drawGrid, drawLabel, drawRuler, drawSelection} from "./ruler.js";
import {formatTime} from "./time.js";

export class Timeline {
  #frame = 0;
  #sceneIsOld = true;
  #pointer = null; // {x, y, clientX, clientY}
  frames = {count: 0, last: 0, longest: 0}; // drawing times in ms; tests read this

  constructor(parts) {
    Object.assign(this, parts); // area, scene, overlay, scroller, trace, state, rows, data, names, overview, tooltip, colors
    this.painter = new LanePainter(this.scene.getContext("2d"), this.colors);
    this.scroller.addEventListener("scroll", ({target: {scrollTop: y}}) => // by the user, or it follows the lanes
      Math.abs(y - this.rows.scroll) >= 1 && this.scrollTo(y));
    this.names.root.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.scrollBy(wheelPixels(event).dy);
    }, {passive: false});
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
    resize(this.scene, width, height);
    resize(this.overlay, width, height);
    this.rows.width = width;
    this.rows.height = height;
    this.overview.resize();
    this.rows.place();
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
    const {state, rows, colors, painter, scale} = this, {width, height} = rows, context = contextOf(this.scene);
    const exact = this.data.exact(state.from, state.to);
    box(context, colors.background, 0, 0, width, height);
    drawGrid(context, scale, height, colors);
    painter.begin(scale);
    this.#marks();
    this.#part(rows.moving, rows.movingTop, height);
    this.#part(rows.fixed, rows.top, rows.fixedHeight);
    painter.end();
    if (rows.fixedHeight)
      box(context, colors.lineStrong, 0, rows.movingTop - 2, width, 1);
    const {all, drawn} = visibleArrows(exact, rows, state, scale);
    this.arrows = drawn;
    this.onArrows(all - drawn.length);
    clipped(context, rows.top, width, height, () => {
      drawWaits(context, exact, rows, scale, colors);
      drawArrows(context, drawn, colors, state.lane);
    });
    drawFlags(context, scale, exact, state, rows, colors);
    drawRuler(context, scale, colors);
    if (state.selection)
      drawSelection(context, scale, state.selection, height, colors);
    this.overview.draw();
  }

  // A row of densities for each marked event type.
  #marks() {
    const {rows, state, data, colors, painter, trace} = this;
    let y = RULER_HEIGHT;
    painter.part(y, rows.top);
    for (const [name, color] of state.marks) {
      box(painter.context, colors.raised, 0, y, rows.width, sizes.mark);
      box(painter.context, colors.line, 0, y + sizes.mark - 1, rows.width, 1);
      painter.lane({kind: "mark", mark: "mark-" + color}, y, data.pieces("m" + trace.eventNames.get(name)?.index, state.from, state.to));
      y += sizes.mark;
    }
  }

  #part(list, top, height) {
    const {rows, state, data, colors, painter} = this, {context} = painter;
    painter.part(top, top + height);
    clipped(context, top, rows.width, height, () => {
      for (const row of list.filter((candidate) => rows.isVisible(candidate))) {
        const y = rows.yOf(row);
        if (state.lane === row.key)
          box(context, colors.accent, 0, y, rows.width, row.height, 0.1);
        for (const key of row.kind !== "process" ? [row.key] : row.folded ? rows.summed(row) : [])
          painter.lane(row, y, data.pieces(key, state.from, state.to));
        box(context, colors.line, 0, y + row.height - 1, rows.width, 1);
      }
    });
  }

  #paintOverlay() {
    const context = contextOf(this.overlay), {rows, state, colors, scale} = this;
    context.clearRect(0, 0, rows.width, rows.height);
    if (state.cursor) {
      const x = scale.snap(state.cursor.t);
      box(context, colors.accent, x - 0.5, 0, 2, rows.height);
      polygon(context, [x - 5, RULER_HEIGHT - 8], [x + 6, RULER_HEIGHT - 8], [x + 0.5, RULER_HEIGHT]);
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
    box(context, colors.quiet, Math.round(x), RULER_HEIGHT, 1, rows.height, 0.5);
    drawLabel(context, text, (space) => Math.min(Math.max(x - space / 2, 0), rows.width - space), colors.text, colors.background, {radius: 3});
  }

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
    const {x, y, clientX, clientY} = this.#pointer, found = hit(x, y, this.scale, this.rows, this.data), flag = this.#flagAt(x, y);
    const arrow = this.arrows?.find(({x0, y0, x1, y1}) => Math.hypot(x - x1, y - y1) < 6 || Math.hypot(x - x0, y - y0) < 4);
    if (found || arrow)
      this.tooltip.show(found ?? {row: {}}, clientX, clientY, {arrow, flag});
    else
      this.tooltip.hide();
  }

  #flagAt(x, y) {
    const {scale, data, state, rows, colors} = this;
    return flagAt(x, y, scale, data.exact(state.from, state.to), state, rows, colors);
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

  toEnd() {
    const {state, trace} = this;
    state.show(state.duration - state.span, state.duration);
    if (trace.live)
      state.change({follow: true});
  }

  // Moved by the user.
  scrollTo(y) {
    if (Math.abs(y - this.rows.scroll) < 0.5)
      return;
    this.rows.aim(null);
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

  // Folds or pins the selected lane, or the reverse; what: folded or pins.
  toggleLane(what) {
    if (this.state.lane?.[0] === "t")
      this.names.toggle(what, this.state.lane);
  }
}
