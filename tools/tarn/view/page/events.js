// SPDX-License-Identifier: BSD-2-Clause
// Shows events as rows of text, and searches for the next one.
import {ask} from "./api.js";
import {element} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

// Omits reserved fields, as tarn list does.
export const fieldsOf = (event) => Object.entries(event.fields).filter(([name]) => !name.startsWith("reserved"));

export function eventRow(event, before, {trace, colors, state}) {
  const color = state.marks.get(event.name), delta = before === null ? "" : `+${formatSpan(event.t - before)}`;
  const thread = event.tid ? `${event.comm} (${event.tid})` : event.comm || "idle";
  const fields = fieldsOf(event).map(([name, value]) =>
    element("span", {class: "field"}, element("b", {}, name), " " + value));
  const node = element("div", {class: "event", role: "row", "data-n": event.n, "data-t": event.t},
                 element("span", {class: "time"}, formatTime(event.t)), element("span", {class: "delta"}, delta),
                 element("span", {class: "cpu", title: "CPU"}, `cpu ${trace.cpu(event.cpu)}`),
                 element("span", {class: "who"}, element("i", {class: "swatch", style:
                   `background:${(event.tid ? colors.process(event.pid) : trace.kernel[colors.scheme]).user}`}), thread),
                 element("div", {class: "what"}, color === undefined ? null
                   : element("i", {class: "swatch", style: `background:var(--mark-${color})`}), element("strong", {}, event.name), " ", ...fields));
  node.event = event;
  return node;
}

// Parameters for the server that select the events of a lane.
export function laneChoice(trace, lane) {
  if (!lane)
    return {};
  return lane[0] === "c" ? {cpus: lane.slice(1)} : {tids: String(trace.thread(Number(lane.slice(1))).tid)};
}

// Returns the next matching event, or null. `from` is {n} or {at}. The server searches for a while per request; after each
// request, told(done, total) gets the number of events searched.
export async function findEvent(from, direction, choice, signal, told = () => {}) {
  for (let place = from, start = null;;) {
    const reply = await ask("search", {...place, direction, ...choice}, signal);
    if (reply.found)
      return reply.rows[0];
    if (reply.done)
      return null;
    start ??= reply.start;
    told(Math.abs(reply.n - start), direction === "next" ? reply.total - start : start);
    place = {n: reply.n};
  }
}

// The start of a search: after or before the cursor.
export function searchPlace({cursor, from}, isNext) {
  return cursor === null ? {at: from} : cursor.n === null ? {at: cursor.t} : {n: isNext ? cursor.n + 1 : cursor.n};
}

const millions = (events) => (events / 1e6).toFixed(1);
export const formatProgress = (done, total) => `${millions(done)} of ${millions(total)} million events`;
