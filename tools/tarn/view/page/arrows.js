// SPDX-License-Identifier: BSD-2-Clause
// Arrows between lanes: wake-ups, IPC, and from waits for locks to their holders.
import {PADDING, STRIP} from "./rows.js";

export const Arrow = {WAKEUP: 0, HANDOVER: 1, CALL: 2, REPLY: 3};
export const ARROW_NAMES = ["wake-up", "hand-over", "IPC call", "IPC reply"];
const CALM = 60; // with more arrows than this, they are fainter
const MOST = 400; // with more arrows than this, only those of the selected lane are drawn
const STUB = 12; // length in pixels of an arrow that comes from an interrupt or a timer

const middle = (rows, row) => rows.yOf(row) + PADDING + STRIP / 2;

// Returns the arrows to draw, as lines on the canvas: {arrow, x0, y0, x1, y1}; `all` is their total number.
export function visibleArrows(set, rows, state, scale) {
  const found = [];
  for (const arrow of state.arrows === "none" ? [] : set?.arrows ?? []) {
    if (arrow.end < scale.from || arrow.begin > scale.to)
      continue;
    const from = rows.row("t" + arrow.from), to = rows.row("t" + arrow.to), isStub = arrow.from < 0;
    if (!(from || isStub) || !to || from === to || (!rows.isVisible(to) && !(from && rows.isVisible(from))))
      continue;
    const y1 = middle(rows, to);
    found.push({arrow, x0: scale.x(arrow.begin), y0: isStub ? y1 - STUB : middle(rows, from), x1: scale.x(arrow.end), y1});
  }
  if (state.arrows === "all" || found.length <= MOST)
    return {all: found.length, drawn: found};
  const chosen = state.lane?.[0] === "t" ? Number(state.lane.slice(1)) : -2;
  return {all: found.length, drawn: found.filter(({arrow}) => arrow.from === chosen || arrow.to === chosen)};
}

// Arrows of the selected lane are emphasised.
export function drawArrows(context, arrows, colors, lane) {
  const chosen = lane?.[0] === "t" ? Number(lane.slice(1)) : -1;
  const calm = arrows.length > CALM ? 0.25 + 0.4 * CALM / arrows.length : 0.65;
  for (const {arrow, x0, y0, x1, y1} of arrows) {
    context.globalAlpha = chosen < 0 ? calm : arrow.from === chosen || arrow.to === chosen ? 1 : calm / 2;
    const isCall = arrow.kind === Arrow.CALL || arrow.kind === Arrow.REPLY;
    context.strokeStyle = context.fillStyle = isCall ? colors.call : colors.wakeup;
    context.lineWidth = 1;
    context.setLineDash(arrow.kind === Arrow.REPLY || arrow.kind === Arrow.HANDOVER ? [4, 3] : []);
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
    context.setLineDash([]);
    head(context, x0, y0, x1, y1);
  }
  context.globalAlpha = 1;
}

function head(context, x0, y0, x1, y1) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  context.beginPath();
  context.moveTo(x1, y1);
  for (const side of [-0.45, 0.45])
    context.lineTo(x1 - 7 * Math.cos(angle + side), y1 - 7 * Math.sin(angle + side));
  context.closePath();
  context.fill();
}

// Draws a bar below the waiter's box, and a line from it to a bar on the holder's lane.
export function drawWaits(context, set, rows, scale, colors) {
  for (const wait of [...set?.waits.values() ?? []].flat()) {
    const waiter = rows.row("t" + wait.thread), holder = rows.row("t" + wait.holder);
    if (!waiter || wait.end < scale.from || wait.begin > scale.to || !rows.isVisible(waiter))
      continue;
    const x = scale.snap(wait.begin), width = Math.max(2, scale.snap(wait.end) - x);
    const y = rows.yOf(waiter) + PADDING + STRIP - 3;
    context.fillStyle = context.strokeStyle = colors.lock;
    context.fillRect(x, y, width, 3);
    if (!holder || holder === waiter || width < 3)
      continue;
    const there = rows.yOf(holder) + PADDING + STRIP - 3;
    context.globalAlpha = 0.45;
    context.fillRect(x, there, width, 3);
    context.globalAlpha = 1;
    context.setLineDash([2, 2]);
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x + 0.5, y + 1.5);
    context.lineTo(x + 0.5, there + 1.5);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(x + 0.5, there + 1.5, 2.5, 0, 7);
    context.fill();
  }
}
