// The ruler, grid lines behind the lanes, and the selection.
import {FONT, box} from "./canvas.js";
import {RULER_HEIGHT} from "./rows.js";
import {formatSpan, formatTime, rulerBase, rulerLabel, rulerStep} from "./time.js";

const LABEL_SPACE = 92; // minimum pixels between labels

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

// Draws a line at each multiple of a step in the view, of the current colour.
function drawTicks(context, scale, step, y, height) {
  for (let t = Math.ceil(scale.from / step) * step; t <= scale.to; t += step)
    context.fillRect(scale.snap(t), y, 1 / scale.ratio, height);
}

export function drawGrid(context, scale, height, colors) {
  context.fillStyle = colors.line;
  drawTicks(context, scale, rulerStep(LABEL_SPACE / scale.factor), RULER_HEIGHT, height);
}

export function drawRuler(context, scale, colors) {
  const step = rulerStep(LABEL_SPACE / scale.factor), base = rulerBase(step), small = step / 5, first = Math.ceil(scale.from / step) * step;
  box(context, colors.raised, 0, 0, scale.width, RULER_HEIGHT);
  box(context, colors.lineStrong, 0, RULER_HEIGHT - 1, scale.width, 1);
  if (small >= 1)
    drawTicks(context, scale, small, RULER_HEIGHT - 4, 3);
  drawTicks(context, scale, step, RULER_HEIGHT - 11, 10);
  context.font = FONT;
  context.textBaseline = "middle";
  for (let t = first; t <= scale.to; t += step) {
    context.fillStyle = base && t % base === 0 ? colors.text : colors.quiet;
    context.fillText(rulerLabel(t, step), scale.snap(t) + 4, RULER_HEIGHT - 9);
  }
  if (base && !(first % base === 0 && scale.x(first) < LABEL_SPACE)) { // the base of the labels, unless its own label is visible
    context.fillStyle = colors.text;
    context.fillText(formatTime(Math.floor(scale.from / base) * base, base), 4, 9);
  }
}

export function drawSelection(context, scale, {from, to}, height, {selection, background}) {
  const x = scale.snap(from), width = Math.max(1, scale.snap(to) - x);
  if (x > scale.width || x + width < 0)
    return;
  box(context, selection, x, 0, width, height, 0.13);
  box(context, selection, x, 0, 1, height);
  box(context, selection, x + width - 1, 0, 1, height);
  drawLabel(context, formatSpan(to - from), (space) => Math.min(Math.max(x + width / 2 - space / 2, 2), scale.width - space - 2), selection, background,
            {font: `600 ${FONT}`, radius: 8, margin: 6});
}
