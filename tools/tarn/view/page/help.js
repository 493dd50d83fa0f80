// SPDX-License-Identifier: BSD-2-Clause
// All keys, from the same table that acts on them.
import {element} from "./element.js";
import {legend} from "./legend.js";

const SHOWN = {ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "Page ↑", PageDown: "Page ↓", Escape: "Esc"};
const POINTER = [["wheel", "zoom at the pointer"], ["⇧ wheel", "pan; also two fingers sideways"], ["Alt wheel", "scroll the lanes; also over the names"],
                 ["drag", "move the view"], ["drag ruler", "select a range; also ⇧ drag"], ["click", "cursor: events around it"],
                 ["double click", "fit this box into the view"], ["right click", "on an event of a list: go to the machine at it"],
                 ["overview", "drag the view or its edges; beside it: another view"]];

export function makeHelp(dialog, table) {
  const line = (keys, what) => element("div", {}, element("span", {}, ...keys.flatMap((key) => [element("kbd", {}, SHOWN[key] ?? key), " "])), what);
  dialog.append(element("form", {method: "dialog"}, element("h2", {id: "help-title"}, "Keys and pointer"),
                        element("button", {autofocus: true, "aria-label": "close"}, "✕")),
                element("div", {class: "keys"}, ...POINTER.map(([key, what]) => line([key], what)),
                        ...table.map(([keys, what]) => line(keys.filter((key) => key !== "="), what))),
                element("h2", {}, "Colours and shapes"), legend());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
