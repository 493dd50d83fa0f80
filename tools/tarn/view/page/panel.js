// SPDX-License-Identifier: BSD-2-Clause
// The panel beside or below the timeline. Only the open tab sends requests to the server.
import {byId, element} from "./element.js";

const NARROW = 640; // window width in pixels
const LANES_WIDE = 300, LANES_HIGH = 170; // pixels reserved for the lanes with names and overview

export class Panel {
  constructor(state, tabs) { // tabs: {name: {title, node, build(), show()}}
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
    state.on(["dock"], () => this.#place());
    addEventListener("resize", () => this.#place());
    this.#split();
  }

  open(name) {
    this.state.change({tab: name, panel: true});
  }

  get current() {
    return this.state.panel && Object.hasOwn(this.tabs, this.state.tab) ? this.tabs[this.state.tab] : null;
  }

  #update() {
    if (!Object.hasOwn(this.tabs, this.state.tab))
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

  // ---- position

  // The panel is always at the bottom if there is no space beside the lanes.
  get #isBelow() {
    return this.state.dock === "bottom" || innerWidth < NARROW;
  }

  #place() {
    document.body.classList.toggle("dock-bottom", this.#isBelow);
    const line = byId("splitter"), button = byId("dock");
    line.setAttribute("aria-orientation", this.#isBelow ? "horizontal" : "vertical");
    line.setAttribute("aria-label", this.#isBelow ? "height of the panel" : "width of the panel");
    button.textContent = this.#isBelow ? "◨" : "⬓";
    button.title = this.#isBelow ? "Move the panel to the right (b)" : "Move the panel to the bottom (b)";
    button.setAttribute("aria-label", button.title);
    this.#size(Number(localStorage.getItem("panel-" + this.state.dock)) || (this.#isBelow ? innerHeight * 0.36 : 430));
  }

  turn() {
    this.state.change({dock: this.#isBelow ? "right" : "bottom", panel: true});
    localStorage.setItem("dock", this.state.dock);
  }

  #size(pixels) {
    const {height, width} = byId("panel").parentNode.getBoundingClientRect();
    const space = this.#isBelow ? height - LANES_HIGH : width - LANES_WIDE, least = this.#isBelow ? 120 : 240;
    const size = Math.round(Math.max(Math.min(Math.max(pixels, least), space), 0)), {style} = byId("panel");
    style.width = this.#isBelow ? "" : `${size}px`;
    style.height = this.#isBelow ? `${size}px` : "";
    byId("splitter").setAttribute("aria-valuenow", size);
    return size;
  }

  // The splitter can be dragged, or moved by keys.
  #split() {
    const line = byId("splitter"), panel = byId("panel");
    const set = (pixels) => localStorage.setItem("panel-" + this.state.dock, this.#size(pixels));
    line.addEventListener("pointerdown", (event) => line.setPointerCapture(event.pointerId));
    line.addEventListener("pointermove", (event) => line.hasPointerCapture(event.pointerId) &&
      set(this.#isBelow ? innerHeight - event.clientY : innerWidth - event.clientX));
    line.addEventListener("keydown", (event) => {
      const step = (this.#isBelow ? {ArrowUp: 30, ArrowDown: -30} : {ArrowLeft: 30, ArrowRight: -30})[event.key];
      if (step) {
        event.preventDefault();
        set((this.#isBelow ? panel.clientHeight : panel.clientWidth) + step);
      }
    });
  }
}
