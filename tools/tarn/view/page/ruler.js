// SPDX-License-Identifier: BSD-2-Clause
// The ruler, grid lines behind the lanes, marked ranges and the selection.
import {RULER_HEIGHT} from "./rows.js";
import {formatSpan, formatTime, rulerBase, rulerLabel, rulerStep} from "./time.js";

const LABEL_SPACE = 92; // minimum pixels between labels
const FONT = "11px system-ui, sans-serif";

// Draws a filled label on the ruler. place(space) returns its left edge.
export function drawLabel(context, text, place, color, textColor, {font = FONT, radius = 0, margin = 5} = {}) {
  context.font = font;
  context.textBaseline = "middle";
  const space = context.measureText(text).width + 2 * margin, left = place(space);
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(left, 1, space, 16, radius);
  context.fill();
  context.fillStyle = textColor;
  context.fillText(text, left + margin, 9.5);
}

export function drawGrid(context, scale, height, colors) {
  const step = rulerStep(LABEL_SPACE / scale.factor);
  context.fillStyle = colors.line;
  for (let t = Math.ceil(scale.from / step) * step; t <= scale.to; t += step)
    context.fillRect(scale.snap(t), RULER_HEIGHT, 1 / scale.ratio, height);
}

export function drawRuler(context, scale, colors) {
  const step = rulerStep(LABEL_SPACE / scale.factor), base = rulerBase(step), small = step / 5;
  context.fillStyle = colors.raised;
  context.fillRect(0, 0, scale.width, RULER_HEIGHT);
  context.fillStyle = colors.lineStrong;
  context.fillRect(0, RULER_HEIGHT - 1, scale.width, 1);
  if (small >= 1)
    for (let t = Math.ceil(scale.from / small) * small; t <= scale.to; t += small)
      context.fillRect(scale.snap(t), RULER_HEIGHT - 4, 1 / scale.ratio, 3);
  context.font = FONT;
  context.textBaseline = "middle";
  for (let t = Math.ceil(scale.from / step) * step; t <= scale.to; t += step) {
    const x = scale.snap(t), isBase = base && t % base === 0;
    context.fillStyle = colors.lineStrong;
    context.fillRect(x, RULER_HEIGHT - 11, 1 / scale.ratio, 10);
    context.fillStyle = isBase ? colors.text : colors.quiet;
    context.fillText(rulerLabel(t, step), x + 4, RULER_HEIGHT - 9);
  }
  const first = Math.ceil(scale.from / step) * step;
  if (base && !(first % base === 0 && scale.x(first) < LABEL_SPACE)) { // the base of the labels, unless its own label is visible
    context.fillStyle = colors.text;
    context.fillText(formatTime(Math.floor(scale.from / base) * base, base), 4, 9);
  }
}

// Marked ranges appear as flags below the ruler.
export function drawPlaces(context, scale, places, height, colors) {
  for (const place of places) {
    const x = scale.snap(place.from), width = Math.max(2, scale.snap(place.to) - x);
    if (x > scale.width || x + width < 0)
      continue;
    context.fillStyle = colors.accent;
    context.globalAlpha = 0.1;
    context.fillRect(x, RULER_HEIGHT, width, height);
    context.globalAlpha = 0.8;
    context.fillRect(x, RULER_HEIGHT - 3, width, 3);
    context.fillRect(x, 18, 1, height);
    context.globalAlpha = 1;
    drawLabel(context, place.label, () => Math.max(x, 0), colors.accent, colors.background);
  }
}

export function drawSelection(context, scale, selection, height, colors) {
  const x = scale.snap(selection.from), width = Math.max(1, scale.snap(selection.to) - x);
  if (x > scale.width || x + width < 0)
    return;
  context.fillStyle = colors.selection;
  context.globalAlpha = 0.13;
  context.fillRect(x, 0, width, height);
  context.globalAlpha = 1;
  context.fillRect(x, 0, 1, height);
  context.fillRect(x + width - 1, 0, 1, height);
  drawLabel(context, formatSpan(selection.to - selection.from),
            (space) => Math.min(Math.max(x + width / 2 - space / 2, 2), scale.width - space - 2), colors.selection, colors.background,
            {font: `600 ${FONT}`, radius: 8, margin: 6});
}
