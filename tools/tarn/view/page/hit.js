// SPDX-License-Identifier: BSD-2-Clause
// Finds what is under the pointer.
import {BOX, CALL, RUN, STATE, firstAfter} from "./data.js";
import {CALL_HEIGHT, PADDING, STRIP} from "./rows.js";

// {row, t, isLoaded?, box?, state?, calls?, waits?, shares?, depth?, from, to}; null: no lane. Calls start with the outermost.
// What begins at `from` or ends at `to` may extend beyond the loaded data.
export function hit(x, y, scale, rows, data) {
  const row = rows.at(y), t = scale.t(x);
  if (!row)
    return null;
  if (row.kind === "process")
    return {row, t};
  const piece = data.pieces(row.key, scale.from, scale.to).find((p) => p.from <= t && t <= p.to);
  if (!piece)
    return {row, t};
  if (!piece.set.isExact)
    return {row, t, shares: sharesAt(piece, t)};
  const slack = 1.5 / scale.factor; // tolerance for boxes one pixel wide
  const {from, to} = piece.set;
  if (row.kind === "cpu")
    return {row, t, from, to, isLoaded: true, box: boxAt(piece.lane.boxes, BOX, t, slack)};
  const depth = Math.floor((y - rows.yOf(row) - PADDING - STRIP) / CALL_HEIGHT);
  const waits = (piece.set.waits.get(row.n) ?? []).filter((wait) => wait.begin - slack <= t && t <= wait.end + slack);
  return {row, t, from, to, depth, waits, state: boxAt(piece.lane.states, STATE, t, slack),
          calls: piece.lane.calls.map((boxes) => boxAt(boxes, CALL, t, slack)).filter(Boolean)};
}

function boxAt(boxes, stride, t, slack) {
  let i = firstAfter(boxes, stride, t);
  if (i >= boxes.length || boxes[i] > t + slack) {
    if (i >= stride && boxes[i - stride + 1] > t - slack)
      i -= stride;
    else
      return null;
  }
  return Array.from({length: stride}, (_, k) => boxes[i + k]);
}

function sharesAt({lane, set}, t) {
  let pixel = Math.floor((t - set.from) / set.grain);
  for (let i = 0; i < lane.runs.length; i += RUN) {
    if (pixel < lane.runs[i])
      return {what: lane.runs[i + 1], parts: Array.from(lane.runs.slice(i + 2, i + RUN)), grain: set.grain};
    pixel -= lane.runs[i];
  }
  return null;
}
