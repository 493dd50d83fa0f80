// The panel beside or below the timeline (page.css). Only the open tab sends requests to the server.
import {byId, element} from "./element.js";

export class Tab {
  #page; // private, so that the page as an object has no circles

  constructor(page) {
    const {trace, state, colors, counts} = page;
    this.#page = page;
    Object.assign(this, {trace, state, colors, counts});
  }

  get page() {
    return this.#page;
  }

  build() {}

  get isShown() {
    return !this.node.hidden && this.state.panel;
  }
}

export class Panel {
  constructor(state, tabs) { // tabs: by name, each with a title and show()
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
}
