// SPDX-License-Identifier: BSD-2-Clause
// Shows events as rows of text, and searches for the next one.
import {ask} from "./api.js";
import {element, swatch} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

// Omits reserved fields, as tarn list does.
const fieldsOf = (event) => Object.entries(event.fields).filter(([name]) => !name.startsWith("reserved"));

export function eventRow(event, before, {trace, colors, state}) {
  const {n, t, tid, comm, name} = event, mark = state.marks.get(name), span = (kind, ...content) => element("span", {class: kind}, ...content);
  const node = element("div", {class: "event", role: "row", "data-n": n, "data-t": t},
    span("time", formatTime(t)), span("delta", before === null ? "" : `+${formatSpan(t - before)}`), span("cpu", `cpu ${trace.cpu(event.cpu)}`),
    span("who", swatch(tid ? colors.process(event.pid) : colors.of(trace.kernel)), tid ? `${comm} (${tid})` : comm || "idle"),
    element("div", {class: "what"}, mark === undefined ? null : swatch(`var(--mark-${mark})`), element("strong", {}, name), " ",
            ...fieldsOf(event).map(([field, value]) => span("field", element("b", {}, field), " " + value))));
  node.event = event;
  return node;
}

// Parameters for the server that select the events of a lane.
export function laneChoice(trace, lane) {
  if (!lane)
    return {};
  return lane[0] === "c" ? {cpus: lane.slice(1)} : {tids: String(trace.thread(Number(lane.slice(1))).tid)};
}

// Returns the next matching event, or null. `from` is {n} or {at}. The server looks for a while per request; after each request,
// told(progress) gets a text.
export async function findEvent(from, direction, choice, signal, told) {
  const isNext = direction === "next", millions = (events) => (events / 1e6).toFixed(1);
  for (let place = from, start = null;;) {
    const reply = await ask("list", {...place, before: isNext ? 0 : 1, after: isNext ? 1 : 0, ...choice}, signal);
    if (reply.rows.length || (isNext ? reply.to >= reply.total : reply.from === 0))
      return reply.rows[0] ?? null;
    start ??= reply.start;
    place = {n: isNext ? reply.to : reply.from};
    told(`searching, ${millions(Math.abs(place.n - start))} of ${millions(isNext ? reply.total - start : start)} million events`);
  }
}

// The start of a search: after or before the cursor.
export function searchPlace({cursor, from}, direction) {
  return cursor === null ? {at: from} : cursor.n === null ? {at: cursor.t} : {n: cursor.n + (direction === "next")};
}
