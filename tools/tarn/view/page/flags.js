// SPDX-License-Identifier: BSD-2-Clause
// Flags of marked events on their lanes.
import {polygon} from "./canvas.js";
import {FLAG} from "./data.js";

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
