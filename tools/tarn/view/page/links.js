// Drawings over the lanes: arrows between them (drawn as in draw.c), and flags of marked events.
import {box, line, polygon} from "./canvas.js";
import {FLAG} from "./data.js";
import {sizes} from "./rows.js";

const STUB = 12; // length in pixels of an arrow that comes from an interrupt or a timer

const middle = (rows, row) => rows.yOf(row) + sizes.padding + sizes.strip / 2;
const touches = ({from, to}, lane) => `t${from}` === lane || `t${to}` === lane;

// Returns the arrows to draw (of many, only those of the selected lane), as lines on the canvas: {arrow, x0, y0, x1, y1}; `all`
// is their total number.
export function visibleArrows(set, rows, state, scale) {
  const found = [];
  for (const arrow of state.arrows === "none" ? [] : set?.arrows.values() ?? []) {
    if (arrow.end < scale.from || arrow.begin > scale.to)
      continue;
    const from = rows.row("t" + arrow.from), to = rows.row("t" + arrow.to), isStub = arrow.from < 0;
    if (!(from || isStub) || !to || from === to || (!rows.isVisible(to) && !(from && rows.isVisible(from))))
      continue;
    const y1 = middle(rows, to);
    found.push({arrow, x0: scale.x(arrow.begin), y0: isStub ? y1 - STUB : middle(rows, from), x1: scale.x(arrow.end), y1});
  }
  const areShown = state.arrows === "all" || found.length <= sizes.arrows;
  return {all: found.length, drawn: areShown ? found : found.filter(({arrow}) => touches(arrow, state.lane))};
}

// Arrows of the selected lane are emphasised.
export function drawArrows(context, arrows, colors, lane) {
  const calm = arrows.length > sizes.calm ? 0.25 + 0.4 * sizes.calm / arrows.length : 0.65;
  for (const {arrow, x0, y0, x1, y1} of arrows) {
    const angle = Math.atan2(y1 - y0, x1 - x0), look = colors.trace.arrows[arrow.kind];
    const side = (turn) => [x1 - 7 * Math.cos(angle + turn), y1 - 7 * Math.sin(angle + turn)];
    context.globalAlpha = lane?.[0] !== "t" ? calm : touches(arrow, lane) ? 1 : calm / 2;
    context.strokeStyle = context.fillStyle = colors.of(look.color);
    line(context, x0, y0, x1, y1, look.dashed ? [4, 3] : []);
    polygon(context, [x1, y1], side(-0.45), side(0.45));
  }
  context.globalAlpha = 1;
}

// Draws a bar below the waiter's box, and a line from it to a bar on the holder's lane.
export function drawWaits(context, set, rows, scale, colors) {
  for (const wait of set?.waits.values() ?? []) {
    const waiter = rows.row("t" + wait.thread), holder = rows.row("t" + wait.holder);
    if (!waiter || wait.end < scale.from || wait.begin > scale.to || !rows.isVisible(waiter))
      continue;
    const x = scale.snap(wait.begin), width = Math.max(2, scale.snap(wait.end) - x);
    const [y, there] = [waiter, holder].map((row) => row && rows.yOf(row) + sizes.padding + sizes.strip - 3);
    box(context, colors.lock, x, y, width, 3);
    if (!holder || holder === waiter || width < 3)
      continue;
    box(context, colors.lock, x, there, width, 3, 0.45);
    context.strokeStyle = context.fillStyle = colors.lock;
    line(context, x + 0.5, y + 1.5, x + 0.5, there + 1.5, [2, 2]);
    context.beginPath();
    context.arc(x + 0.5, there + 1.5, 2.5, 0, 7);
    context.fill();
  }
}

const FLAG_WIDTH = 9; // width of a flag in pixels; flags that are closer together become ticks
const FLAG_HEIGHT = 8;

// Returns a lane's flags in the view: {t, name, count, color, x}. `set`: from data.exact; flags of earlier marks are left out.
function flagsOf(set, row, scale, state, {trace, marks}) {
  const flags = set?.lanes.get(row.key)?.flags ?? [], found = [];
  for (let i = 0; i < flags.length; i += FLAG) {
    const t = flags[i], name = trace.events[flags[i + 1]]?.name, color = marks[state.marks.get(name)];
    if (t >= scale.from && t <= scale.to && color !== undefined)
      found.push({t, name, color, count: flags[i + 2], x: scale.x(t)});
  }
  return found;
}

export function drawFlags(context, scale, set, state, rows, colors) {
  for (const row of rows.visible) {
    const flags = flagsOf(set, row, scale, state, colors), y = rows.yOf(row) + 1;
    const areClose = flags.length > 8 && flags.some(({x}, i) => i > 0 && x - flags[i - 1].x < FLAG_WIDTH);
    context.strokeStyle = colors.background;
    context.lineWidth = 1;
    for (const {x, color} of flags) {
      context.fillStyle = color;
      if (areClose) {
        context.fillRect(Math.round(x) - 1, y, 2, FLAG_HEIGHT);
      } else {
        polygon(context, [x - 4.5, y], [x + 4.5, y], [x, y + FLAG_HEIGHT]);
        context.stroke();
      }
    }
  }
}

// The flag under the pointer, or undefined.
export function flagAt(x, y, scale, set, state, rows, colors) {
  const row = rows.at(y), away = (flag) => Math.abs(flag.x - x);
  if (!row || y - rows.yOf(row) > FLAG_HEIGHT + 1)
    return undefined;
  return flagsOf(set, row, scale, state, colors).filter((flag) => away(flag) < 5).sort((a, b) => away(a) - away(b))[0];
}
