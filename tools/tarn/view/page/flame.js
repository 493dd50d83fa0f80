// SPDX-License-Identifier: BSD-2-Clause
// A flame graph: the boxes of the server's SVG, laid out again for the available width, with the outermost ones on top so
// that a low panel shows them. A click zooms in, the text field marks functions.
import {element} from "./element.js";

const ROW = 17, LEAST = 0.5, CHARACTER = 6.2; // pixels
const SVG = "http://www.w3.org/2000/svg";

export class FlameGraph {
  #left = 0; // the visible part of the whole
  #part = 1;

  // picture: an SVG document as text; address: its URL.
  constructor(picture, address) {
    const parsed = new DOMParser().parseFromString(picture, "image/svg+xml");
    this.title = parsed.querySelector("text.h")?.textContent ?? "";
    this.boxes = [...parsed.querySelectorAll("g.f")].map((group) => this.#box(group));
    const deepest = this.boxes.reduce((depth, box) => Math.max(depth, box.depth), 0);
    this.svg = document.createElementNS(SVG, "svg");
    this.svg.setAttribute("height", (deepest + 1) * ROW);
    this.svg.setAttribute("role", "img");
    this.svg.setAttribute("aria-label", `flame graph: ${this.title}`);
    for (const box of this.boxes) {
      for (const part of [box.rect, box.text])
        part.setAttribute("y", box.depth * ROW + (part === box.text ? 12 : 0));
      this.svg.append(box.group);
    }
    this.found = element("span", {class: "quiet", role: "status"});
    this.search = element("input", {type: "search", placeholder: "Mark functions", "aria-label": "mark functions", input: () => this.#mark()});
    this.info = element("p", {class: "flame-info"}, `${this.title}. The width of a box is its share; its callees are below.`);
    this.node = element("div", {class: "flame"},
      element("div", {class: "tools"}, this.search, this.found, element("button", {click: () => this.#zoom(null)}, "Whole"),
              element("a", {href: address, target: "_blank", download: "flame.svg"}, "SVG file")), this.info, this.svg);
    this.svg.addEventListener("click", (event) => this.#zoom(this.#of(event)));
    this.svg.addEventListener("pointerover", (event) => this.#tell(this.#of(event)));
    new ResizeObserver(() => this.#lay()).observe(this.node);
  }

  #box(group) {
    const shown = document.importNode(group, true), [title, rect, text] = shown.children;
    return {group: shown, rect, text, name: text.dataset.n, told: title.textContent, depth: Number(group.dataset.d),
            x: Number(group.dataset.x), width: Number(group.dataset.w)};
  }

  #of(event) {
    const group = event.target.closest("g");
    return group ? this.boxes.find((box) => box.group === group) : null;
  }

  #tell(box) {
    if (box)
      this.info.textContent = box.told;
  }

  #zoom(box) {
    this.#left = box?.x ?? 0;
    this.#part = box?.width || 1;
    this.#lay();
  }

  #lay() {
    const space = this.svg.clientWidth || this.node.clientWidth;
    for (const {group, rect, text, name, x, width} of this.boxes) {
      const from = Math.max(0, (x - this.#left) / this.#part) * space;
      const to = Math.min(1, (x + width - this.#left) / this.#part) * space;
      const isShown = to - from >= LEAST;
      group.style.display = isShown ? "" : "none";
      if (!isShown)
        continue;
      group.classList.toggle("around", width > this.#part * 1.000001);
      rect.setAttribute("x", from);
      rect.setAttribute("width", Math.max(LEAST, to - from - 0.5));
      text.setAttribute("x", from + 3);
      const fits = Math.floor((to - from - 6) / CHARACTER);
      text.textContent = fits >= name.length ? name : fits > 2 ? name.slice(0, fits - 1) + "…" : "";
    }
  }

  // Nested boxes count once.
  #mark() {
    const wanted = this.search.value.trim().toLowerCase();
    let sum = 0, end = -1;
    const hits = this.boxes.filter((box) => {
      const isHit = wanted !== "" && box.name.toLowerCase().includes(wanted);
      box.group.classList.toggle("marked", isHit);
      return isHit;
    });
    for (const {x, width} of hits.sort((a, b) => a.x - b.x || b.width - a.width))
      if (x >= end - 1e-9) {
        sum += width;
        end = x + width;
      }
    this.found.textContent = wanted ? `${(100 * sum).toFixed(1)} %` : "";
  }
}
