// SPDX-License-Identifier: BSD-2-Clause
// Marked events: a row of ticks for each kind under the ruler, and when they are few a flag on the lanes where they happened.
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

// Taller where there are more; one is already to be seen.
function drawDensity(context, scale, marks, pixels, y) {
  const grain = (marks.to - marks.from) / marks.width, room = MARK_HEIGHT - 3;
  const most = Math.log2(1 + pixels.reduce((a, b) => Math.max(a, b), 1));
  for (let i = 0; i < pixels.length; i++)
    if (pixels[i] > 0) {
      const x = scale.snap(marks.from + i * grain), width = Math.max(1, scale.snap(marks.from + (i + 1) * grain) - x);
      const high = Math.max(3, room * Math.log2(1 + pixels[i]) / most);
      context.fillRect(x, y + MARK_HEIGHT - 1 - high, width, high);
    }
}

export function drawFlags(context, scale, counts, state, rows, trace, colors) {
  for (const event of counts.rows) {
    const color = colors.marks[state.marks.get(event.name)], x = scale.x(event.t);
    const thread = trace.byTid.get(event.tid);
    if (color === undefined || x < 0 || x > scale.width)
      continue;
    for (const row of [rows.row("c" + event.cpu), thread && rows.row("t" + thread.n)])
      if (row && rows.isVisible(row))
        drawFlag(context, x, rows.yOf(row) + 1, color, colors.background);
  }
}

function drawFlag(context, x, y, color, edge) {
  context.beginPath();
  context.moveTo(x - 4.5, y);
  context.lineTo(x + 4.5, y);
  context.lineTo(x, y + 8);
  context.closePath();
  context.fillStyle = color;
  context.strokeStyle = edge;
  context.lineWidth = 1;
  context.fill();
  context.stroke();
}
