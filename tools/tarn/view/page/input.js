import {byId} from "./element.js";
import {RULER_HEIGHT} from "./rows.js";

const LINE = 18, PAGE = 400; // pixels per line and page, units that browsers may use for wheels
const PAUSE = 200; // ms without an event that separate gestures
const DECIDED = 6; // pixels after which the direction of a gesture is fixed
const CLICK = 4; // pixels: more is a drag
const ARROWS = ["auto", "all", "none"];

export function wheelPixels({deltaX, deltaY, deltaMode}) {
  const unit = deltaMode === 1 ? LINE : deltaMode === 2 ? PAGE : 1;
  return {dx: deltaX * unit, dy: deltaY * unit};
}

// Two fingers never move quite straight. The first few pixels of a gesture decide its direction, vertical or horizontal; movement
// in the other direction is ignored until it ends.
class Gesture {
  #last = -Infinity;
  #sum = {dx: 0, dy: 0};
  #way = null;

  // The movement of an event in pixels; dx or dy is 0. While the direction is undecided both are 0, and the movement is kept.
  take(event) {
    const only = ({dx, dy}) => (this.#way === "x" ? {dx, dy: 0} : {dx: 0, dy}), moved = wheelPixels(event), sum = this.#sum;
    if (event.timeStamp - this.#last > PAUSE)
      sum.dx = sum.dy = this.#way = null;
    this.#last = event.timeStamp;
    if (this.#way)
      return only(moved);
    sum.dx += moved.dx;
    sum.dy += moved.dy;
    const x = Math.abs(sum.dx), y = Math.abs(sum.dy);
    if (Math.max(x, y) < DECIDED)
      return {dx: 0, dy: 0};
    this.#way = x > y ? "x" : "y";
    return only(sum);
  }
}

export class Pointer {
  #drag = null;
  #gesture = new Gesture();

  // `view` has the timeline's operations; see timeline.js.
  constructor(canvas, view) {
    Object.assign(this, {canvas, view, state: view.state, rows: view.rows});
    canvas.addEventListener("wheel", (event) => this.#wheel(event), {passive: false});
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", () => this.#drag = null);
    canvas.addEventListener("pointerleave", () => view.hover(null));
    canvas.addEventListener("dblclick", (event) => view.zoomTo(event.offsetX, event.offsetY));
  }

  // Vertical movement zooms at the pointer, horizontal movement (or Shift) pans, Alt scrolls the lanes. Browsers report a pinch
  // as a wheel with Ctrl.
  #wheel(event) {
    event.preventDefault();
    const {dx, dy} = event.ctrlKey || event.altKey ? {dx: 0, dy: wheelPixels(event).dy} : this.#gesture.take(event);
    const sideways = event.shiftKey ? dx || dy : dx;
    if (event.altKey)
      this.view.scrollBy(dy);
    else if (sideways !== 0)
      this.state.pan(sideways / this.rows.width);
    else if (dy !== 0)
      this.state.zoom(Math.exp(Math.max(-300, Math.min(300, dy)) * (event.ctrlKey ? 0.01 : 0.0022)), this.view.scale.t(event.offsetX));
    this.view.hover(event);
  }

  // On the ruler, or with Shift, a drag selects; elsewhere it pans.
  #press(event) {
    if (event.button !== 0 || this.#drag)
      return;
    this.canvas.focus({preventScroll: true});
    this.canvas.setPointerCapture(event.pointerId);
    const {from, to, selection} = this.state, t = this.view.scale.t(event.offsetX);
    const selects = event.shiftKey || event.offsetY < RULER_HEIGHT;
    this.#drag = {pointer: event.pointerId, x: event.offsetX, y: event.offsetY, from, to, scroll: this.rows.scroll, selects, start: t, hasMoved: false};
    const near = (edge) => Math.abs(this.view.scale.x(edge) - event.offsetX) < 6;
    if (selection && event.offsetY < RULER_HEIGHT && (near(selection.from) || near(selection.to)))
      this.#drag.start = near(selection.from) ? selection.to : selection.from;
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag) {
      this.view.hover(event);
      return;
    }
    if (drag.pointer !== event.pointerId) // another finger
      return;
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    if (!drag.hasMoved && Math.hypot(dx, dy) < CLICK)
      return;
    drag.hasMoved = true;
    this.view.hover(null);
    if (drag.selects) {
      const t = Math.min(Math.max(this.view.scale.t(event.offsetX), 0), this.state.duration);
      this.view.select(Math.min(drag.start, t), Math.max(drag.start, t));
    } else {
      this.canvas.style.cursor = "grabbing";
      const moved = dx / this.rows.width * (drag.to - drag.from);
      this.state.show(drag.from - moved, drag.to - moved);
      this.view.scrollTo(drag.scroll - dy);
    }
  }

  #release(event) {
    const drag = this.#drag;
    if (drag && drag.pointer !== event.pointerId)
      return;
    this.#drag = null;
    this.canvas.style.cursor = "";
    if (drag && !drag.hasMoved)
      this.view.click(event);
  }
}

// Keys and their help: [keys, help, action]. `view` is as above, `page` has the other operations.
export function keyTable(view, page) {
  const {state} = view;
  return [
    [["w", "+", "="], "zoom in", () => state.zoom(0.6, view.focus)],
    [["s", "-"], "zoom out", () => state.zoom(1 / 0.6, view.focus)],
    [["a", "ArrowLeft"], "pan left", () => state.pan(-0.2)],
    [["d", "ArrowRight"], "pan right", () => state.pan(0.2)],
    [["PageUp"], "pan left by one screen", () => state.pan(-0.9)],
    [["PageDown"], "pan right by one screen", () => state.pan(0.9)],
    [["Home"], "go to the start", () => state.show(0, state.span)],
    [["End"], "go to the end; of a live trace: follow it", () => view.toEnd()],
    [["0"], "show the whole trace", () => state.show(0, state.duration)],
    [["ArrowUp", "k"], "select the lane above", () => view.nextLane(-1)],
    [["ArrowDown", "j"], "select the lane below", () => view.nextLane(1)],
    [["f", "Enter"], "fit the selection into the view", () => state.selection && state.show(state.selection.from, state.selection.to)],
    [["Escape"], "stop the search; clear selection, lane and cursor", () => page.stopLooking() || state.change({selection: null, lane: null, cursor: null})],
    [[".", "n"], "next event (of the selected lane)", () => page.step("next")],
    [[",", "p"], "previous event (of the selected lane)", () => page.step("previous")],
    [["g"], "go to a time, an event (#number) or a text", () => page.focusGoto()],
    [["o"], "open the machine at the event of the cursor", () => page.openEventMenu()],
    [["/", "4"], "search", () => page.openSearch()],
    [["1"], "events around the cursor", () => page.panel.open("list")],
    [["2"], "marks", () => page.panel.open("marks")],
    [["3"], "analyses of the selection", () => page.panel.open("range")],
    [["5"], "about the trace", () => page.panel.open("info")],
    [["r"], "arrows: automatic, all, none", () => state.change({arrows: ARROWS[(ARROWS.indexOf(state.arrows) + 1) % ARROWS.length]})],
    [["x"], "fold or unfold the calls of the lane", () => view.toggleLane("folded")],
    [["X"], "fold or unfold all processes", () => view.rows.foldAll()],
    [["i"], "pin the lane to the top", () => view.toggleLane("pins")],
    [["Backspace"], "back", () => history.back()],
    [["l"], "follow a growing trace, or stop", () => page.toggleFollow()],
    [["\\"], "show or hide the panel", () => state.change({panel: !state.panel})],
    [["?", "h"], "this help", () => byId("help").showModal()],
  ];
}

// Returns whether a key belongs to the focused element. A text field gets all keys. A button gets the keys that press it. Other
// controls get their own keys if they were focused by keyboard; if they were clicked, the page gets the keys.
function isOwnKey(at, key, wasClicked) {
  if (at.matches("input:not([type=radio], [type=checkbox]), textarea"))
    return true;
  if (at.matches("button, a, [role=tab], [role=row], [type=checkbox]"))
    return key === "Enter" || key === " ";
  return !wasClicked && (at.matches("select") || (at.matches("[type=radio]") && (key.startsWith("Arrow") || key === " ")));
}

// Buttons with data-key do what that key does.
export function listenToKeys(table) {
  const actions = new Map(table.flatMap(([keys, , action]) => keys.map((key) => [key, action])));
  for (const button of document.querySelectorAll("button[data-key]"))
    button.addEventListener("click", actions.get(button.dataset.key));
  let wasClicked = false; // focused by the pointer, not by Tab
  addEventListener("pointerdown", () => wasClicked = true, {capture: true});
  addEventListener("keydown", (event) => wasClicked &&= event.key !== "Tab", {capture: true});
  addEventListener("keydown", (event) => {
    const {key, target: at} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector("dialog[open]"))
      return;
    if (at instanceof Element && isOwnKey(at, key, wasClicked)) {
      if (key === "Escape")
        at.blur();
      return;
    }
    const action = actions.get(key) ?? actions.get(key.toLowerCase());
    if (action) {
      event.preventDefault();
      action();
    }
  });
}
