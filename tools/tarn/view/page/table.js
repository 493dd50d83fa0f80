// A table of an analysis, as `tarn NAME --json` prints it, with columns as /api/analyses declares them.
import {element, swatch} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

const FEW = 25; // rows shown at first

function formatValue({key, kind}, value) {
  if (value === null || value === undefined)
    return "";
  if (kind === "when")
    return formatTime(value);
  if (kind === "time")
    return formatSpan(value);
  if (key.endsWith("percent"))
    return `${value.toFixed(1)} %`;
  return kind === "count" || kind === "real" ? value.toLocaleString("en", {maximumFractionDigits: 2}) : String(value);
}

// The time of a row, or null.
export function momentOf({columns}, row) {
  return row[columns.find(({kind}) => kind === "when")?.key] ?? null;
}

// Takes {heading, help, columns: [{key, kind, heading, help}]}, as from /api/analyses, and the action of a row: {title, act(row)},
// or null. A row may have the colour of a sample before its name. The user's sorting stays in the last argument.
export function makeTable({heading, help, columns}, rows, link = null, sorting = {}) {
  const shown = [{key: "name", kind: "text", heading, help}, ...columns], box = element("div", {class: "analysis-table"});
  const alignment = ({kind}) => (kind === "text" || kind === "hex" ? "text" : "number");
  sorting.most ??= FEW;
  const fill = () => {
    const {sort = null, isUp, most} = sorting;
    const sorted = sort === null ? rows : [...rows].sort((a, b) => compare(a[sort], b[sort]) * (isUp ? 1 : -1));
    const head = element("tr", {}, ...shown.map((column) =>
      element("th", {scope: "col", class: alignment(column), "aria-sort": column.key !== sort ? "none" : isUp ? "ascending" : "descending"},
              element("button", {click: () => choose(column.key), title: column.help}, column.heading))));
    const body = sorted.slice(0, most).map((row) => element("tr", {"data-name": row.name, ...(link && linkOf(row, link))},
      ...shown.map((column) => element("td", {class: alignment(column)}, column === shown[0] && row.color ? swatch(row.color) : null,
                                       formatValue(column, row[column.key])))));
    box.replaceChildren(element("div", {class: "wide"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...body))));
    if (rows.length > most)
      box.append(element("button", {class: "more", click: () => {
        sorting.most *= 4;
        fill();
      }}, `${(rows.length - most).toLocaleString("en")} more`));
  };
  const choose = (key) => {
    sorting.isUp = sorting.sort === key ? !sorting.isUp : key === "name";
    sorting.sort = key;
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
