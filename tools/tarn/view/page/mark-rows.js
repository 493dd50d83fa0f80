// SPDX-License-Identifier: BSD-2-Clause
// Marked events: a row of ticks per event type under the ruler, and flags on their lanes.
import {FLAG} from "./counts.js";
import {MARK_HEIGHT, RULER_HEIGHT} from "./rows.js";

export function drawMarks(context, scale, counts, state, colors) {
  let y = RULER_HEIGHT;
  for (const [name, color] of state.marks) {
    const mark = counts.marks?.byName.get(name);
    context.fillStyle = colors.raised;
    context.fillRect(0, y, scale.width, MARK_HEIGHT);
    context.fillStyle = colors.line;
    context.fillRect(0, y + MARK_HEIGHT - 1, scale.width, 1);
    context.fillStyle = colors.marks[color];
    if (mark?.times)
      for (const t of mark.times)
        context.fillRect(scale.snap(t) - 1, y + 2, 2, MARK_HEIGHT - 4);
    else if (mark?.pixels)
      drawDensity(context, scale, counts.marks, mark.pixels, y);
    y += MARK_HEIGHT;
  }
}

// The height shows the number of events; one is already visible.
function drawDensity(context, scale, marks, pixels, y) {
  const grain = (marks.to - marks.from) / marks.width, space = MARK_HEIGHT - 3;
  const most = Math.log2(1 + pixels.reduce((a, b) => Math.max(a, b), 1));
  for (let i = 0; i < pixels.length; i++)
    if (pixels[i] > 0) {
      const x = scale.snap(marks.from + i * grain), width = Math.max(1, scale.snap(marks.from + (i + 1) * grain) - x);
      const high = Math.max(3, space * Math.log2(1 + pixels[i]) / most);
      context.fillRect(x, y + MARK_HEIGHT - 1 - high, width, high);
    }
}

const FLAG_WIDTH = 9; // width of a flag in pixels; flags that are closer together become ticks
const FLAG_HEIGHT = 8;

// Calls `each(t, name, count)` for a lane's flags in the view.
function eachFlag(flags, scale, trace, each) {
  for (let i = 0; i < flags.length; i += FLAG)
    if (flags[i] >= scale.from && flags[i] <= scale.to)
      each(flags[i], trace.events[flags[i + 1]]?.name, flags[i + 2]);
}

export function drawFlags(context, scale, counts, state, rows, trace, colors) {
  for (const row of rows.visible) {
    const flags = counts.flags.get(row.key);
    if (!flags)
      continue;
    const y = rows.yOf(row) + 1;
    let closest = Infinity, last = -Infinity;
    eachFlag(flags, scale, trace, (t) => {
      closest = Math.min(closest, scale.x(t) - last);
      last = scale.x(t);
    });
    const paint = closest < FLAG_WIDTH && flags.length > 8 * FLAG ? drawTick : drawFlag;
    eachFlag(flags, scale, trace, (t, name) => {
      const color = colors.marks[state.marks.get(name)];
      if (color !== undefined)
        paint(context, scale.x(t), y, color, colors.background);
    });
  }
}

// The flag under the pointer: {t, name, count}, or null.
export function flagAt(x, y, scale, counts, state, rows, trace) {
  const row = rows.at(y), flags = row && counts.flags.get(row.key);
  let found = null, least = 5;
  if (flags && y - rows.yOf(row) <= FLAG_HEIGHT + 1)
    eachFlag(flags, scale, trace, (t, name, count) => {
      const away = Math.abs(scale.x(t) - x);
      if (away < least && state.marks.has(name)) {
        least = away;
        found = {t, name, count};
      }
    });
  return found;
}

function drawTick(context, x, y, color) {
  context.fillStyle = color;
  context.fillRect(Math.round(x) - 1, y, 2, FLAG_HEIGHT);
}

function drawFlag(context, x, y, color, edge) {
  context.beginPath();
  context.moveTo(x - 4.5, y);
  context.lineTo(x + 4.5, y);
  context.lineTo(x, y + FLAG_HEIGHT);
  context.closePath();
  context.fillStyle = color;
  context.strokeStyle = edge;
  context.lineWidth = 1;
  context.fill();
  context.stroke();
}
