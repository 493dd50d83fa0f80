// SPDX-License-Identifier: BSD-2-Clause
// The help: all keys, from the table that handles them.
import {element} from "./element.js";
import {legend} from "./legend.js";

const SHOWN = {ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", PageUp: "Page ↑", PageDown: "Page ↓", Escape: "Esc"};
const POINTER = [["wheel", "zoom at the pointer"], ["⇧ wheel", "pan; also two fingers sideways"], ["Alt wheel", "scroll the lanes; also wheel over the names"],
                 ["drag", "pan"], ["drag ruler", "select a range; also ⇧ drag"], ["click", "set the cursor and list the events around it"],
                 ["double click", "fit this box into the view"], ["right click", "on an event in a list: open the machine at that moment"],
                 ["overview", "drag the view or its edges; drag beside it to select another view"]];

export function makeHelp(dialog, table, trace) {
  const line = (keys, what) => element("div", {}, element("span", {}, ...keys.flatMap((key) => [element("kbd", {}, SHOWN[key] ?? key), " "])), what);
  dialog.append(element("form", {method: "dialog"}, element("h2", {id: "help-title"}, "Keys and pointer"),
                        element("button", {autofocus: true, "aria-label": "close"}, "✕")),
                element("div", {class: "keys"}, ...POINTER.map(([key, what]) => line([key], what)),
                        ...table.map(([keys, what]) => line(keys.filter((key) => key !== "="), what))),
                element("h2", {}, "Colours and shapes"), legend(trace));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
}
