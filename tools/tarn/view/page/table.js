// SPDX-License-Identifier: BSD-2-Clause
// A table of an analysis, as `tarn NAME --json` prints it. Keys give the types of values.
import {element} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

const FEW = 25; // rows shown at first
const WHEN = /(^|_)(at|begin|end|since|until)_ns$/;
const NUMBERS = /^(pid|tid|cpu|parent|number|status|prio|line|port)$/; // IDs, not amounts

function formatValue(key, value) {
  if (value === null || value === undefined)
    return "";
  if (typeof value !== "number")
    return String(value);
  if (WHEN.test(key))
    return formatTime(value);
  if (key.endsWith("_ns"))
    return formatSpan(value);
  if (key.endsWith("percent"))
    return `${value.toFixed(1)} %`;
  return NUMBERS.test(key) ? String(value) : value.toLocaleString("en", {maximumFractionDigits: 2});
}

// The time of a row, or null.
export function momentOf(row) {
  const key = Object.keys(row).find((name) => WHEN.test(name));
  return key === undefined ? null : row[key];
}

// Takes {heading, columns: [{key, heading, help}]}, as from /api/answers, and the action of a row: {title, act(row)}, or null.
export function makeTable({heading, columns}, rows, link = null) {
  const names = new Map([["name", {heading, help: ""}], ...columns.map((column) => [column.key, column])]);
  const box = element("div", {class: "analysis-table"}), keys = Object.keys(rows[0] ?? {});
  const isText = (key) => rows.some((row) => typeof row[key] === "string");
  let sort = null, isUp = false, most = FEW;
  const fill = () => {
    const sorted = sort === null ? rows : [...rows].sort((a, b) => compare(a[sort], b[sort]) * (isUp ? 1 : -1));
    const head = element("tr", {}, ...keys.map((key) =>
      element("th", {scope: "col", class: isText(key) ? "text" : "number", "aria-sort": key !== sort ? "none" : isUp ? "ascending" : "descending"},
              element("button", {click: () => choose(key), title: names.get(key)?.help}, names.get(key)?.heading ?? key))));
    const body = sorted.slice(0, most).map((row) => element("tr", link ? linkOf(row, link) : {},
      ...keys.map((key) => element("td", {class: typeof row[key] === "number" ? "number" : ""}, formatValue(key, row[key])))));
    box.replaceChildren(element("div", {class: "wide"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
    if (rows.length > most)
      box.append(element("button", {class: "more", click: () => {
        most *= 4;
        fill();
      }}, `${(rows.length - most).toLocaleString("en")} more`));
  };
  const choose = (key) => {
    isUp = sort === key ? !isUp : key === "name";
    sort = key;
    fill();
  };
  fill();
  return box;
}

function linkOf(row, {title, act}) {
  return {class: "link", tabindex: 0, title, click: () => act(row), keydown: (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      act(row);
    }
  }};
}

function compare(a, b) {
  if (a === null || b === null || a === undefined || b === undefined)
    return (a ?? null) === (b ?? null) ? 0 : (a ?? null) === null ? -1 : 1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}
