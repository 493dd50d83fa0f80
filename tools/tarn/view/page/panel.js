// SPDX-License-Identifier: BSD-2-Clause
// The side panel: tabs, of which only the one that is open asks the server anything.
import {byId, element} from "./element.js";

export class Panel {
  constructor(state, tabs) { // tabs: {name: {title, node, show(), hide?()}}
    Object.assign(this, {state, tabs});
    const strip = byId("tabs");
    for (const [name, tab] of Object.entries(tabs)) {
      strip.append(element("button", {role: "tab", id: "tab-" + name, "aria-controls": "panel-" + name, click: () => this.open(name)},
                           tab.title));
      tab.node = element("section", {role: "tabpanel", id: "panel-" + name, "aria-labelledby": "tab-" + name});
      byId("panels").append(tab.node);
      tab.build();
    }
    strip.addEventListener("keydown", (event) => this.#key(event));
    state.on(["tab", "panel"], () => this.#update());
    this.#split();
  }

  open(name) {
    this.state.change({tab: name, panel: true});
    this.current?.focus?.();
  }

  get current() {
    return this.state.panel ? this.tabs[this.state.tab] ?? null : null;
  }

  #update() {
    if (!this.tabs[this.state.tab])
      this.state.tab = Object.keys(this.tabs)[0];
    document.body.classList.toggle("no-panel", !this.state.panel);
    for (const [name, tab] of Object.entries(this.tabs)) {
      const isOpen = name === this.state.tab, button = byId("tab-" + name);
      button.setAttribute("aria-selected", isOpen);
      button.tabIndex = isOpen ? 0 : -1;
      tab.node.hidden = !isOpen;
    }
    this.current?.show();
  }

  #key(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step)
      return;
    event.preventDefault();
    const names = Object.keys(this.tabs);
    this.open(names[(names.indexOf(this.state.tab) + step + names.length) % names.length]);
    byId("tab-" + this.state.tab).focus();
  }

  // The line between timeline and panel can be dragged, or moved by keys.
  #split() {
    const line = byId("splitter"), panel = byId("panel");
    const set = (width) => {
      const fine = Math.round(Math.min(Math.max(width, 240), innerWidth * 0.7));
      panel.style.width = `${fine}px`;
      line.setAttribute("aria-valuenow", fine);
    };
    line.addEventListener("pointerdown", (event) => line.setPointerCapture(event.pointerId));
    line.addEventListener("pointermove", (event) => line.hasPointerCapture(event.pointerId) && set(innerWidth - event.clientX));
    line.addEventListener("keydown", (event) => {
      const step = {ArrowLeft: 30, ArrowRight: -30}[event.key];
      if (step) {
        event.preventDefault();
        set(panel.clientWidth + step);
      }
    });
  }
}
