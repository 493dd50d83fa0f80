// The names of the lanes: a tree of elements beside the canvas, accessible to keyboard and screen readers.
import {formatSpan} from "./time.js";
import {sizes} from "./rows.js";
import {element, swatch} from "./element.js";

export class Names {
  #nodes = new Map(); // by key

  constructor(root, state, rows, colors, counts) {
    Object.assign(this, {root, state, rows, colors, counts});
    this.marks = element("div", {class: "name-marks"});
    this.fixed = element("div", {class: "name-fixed"});
    this.moving = element("div", {class: "name-moving"});
    this.clip = element("div", {class: "name-clip"}, this.moving);
    root.append(this.marks, this.fixed, this.clip);
    root.tabIndex = 0;
    root.addEventListener("click", (event) => this.#click(event));
  }

  // Call this after the layout has changed.
  update() {
    const used = new Set();
    for (const [list, box] of [[this.rows.fixed, this.fixed], [this.rows.moving, this.moving]])
      for (const row of list) {
        used.add(row.key);
        const node = this.#nodes.get(row.key) ?? element("div", {role: "treeitem", id: "lane-" + row.key, "data-key": row.key});
        this.#nodes.set(row.key, node);
        if (node.parentNode !== box)
          box.append(node);
        this.#fill(node, row);
      }
    for (const [key, node] of this.#nodes)
      if (!used.has(key)) {
        node.remove();
        this.#nodes.delete(key);
      }
    this.updateMarks();
    this.place();
    this.root.setAttribute("aria-activedescendant", this.#nodes.has(this.state.lane) ? "lane-" + this.state.lane : "");
  }

  updateMarks() {
    this.marks.replaceChildren(...[...this.state.marks].map(([name, color]) => {
      const count = this.counts.count(name);
      return element("div", {class: "name-mark", style: `height:${sizes.mark}px`},
                     swatch(`var(--mark-${color})`), element("span", {class: "label"}, name),
                     element("span", {class: "use"}, count === undefined ? "…" : count.toLocaleString("en")));
    }));
  }

  // Call this after scrolling.
  place() {
    this.fixed.style.top = `${this.rows.top}px`;
    this.clip.style.top = `${this.rows.movingTop}px`;
    this.moving.style.transform = `translateY(${-this.rows.scroll}px)`;
    this.moving.style.height = `${this.rows.movingHeight}px`;
  }

  #fill(node, row) {
    const isChosen = this.state.lane === row.key, isUsed = row.kind === "cpu" ? row.percent >= 0 : row.ran > 0;
    const use = !isUsed ? "" : row.kind === "cpu" ? `${row.percent} %` : formatSpan(row.ran);
    const told = [row.y, row.height, row.folded, row.canFold, row.pinned, isChosen, use, row.label, this.colors.isDark].join();
    if (node.dataset.told === told)
      return;
    node.dataset.told = told;
    node.style.top = `${row.y}px`;
    node.style.height = `${row.height}px`;
    node.className = `name ${row.kind}${isChosen ? " chosen" : ""}${row.inner ? " inner" : ""}`;
    node.setAttribute("aria-selected", isChosen);
    node.replaceChildren(...this.#parts(row, use));
  }

  #parts(row, use) {
    const {label, number, title} = row, span = (kind, text, about) => element("span", {class: kind, title: about}, text);
    return [
      row.canFold ? element("button", {class: "fold", "data-fold": row.key, tabindex: -1, "aria-label": row.folded ? "unfold" : "fold"},
                            row.folded ? "▸" : "▾") : span("fold", ""),
      row.kind === "cpu" ? null : swatch(this.colors.of(row.color)), span("label", label, title), span("number", number),
      span("use", use, row.kind === "cpu" ? "busy in the view, share of the known time" : "ran in the view"),
      row.kind === "thread" ? element("button", {class: "pin", "data-pin": row.key, tabindex: -1, "aria-pressed": Boolean(row.pinned),
                                                 title: row.pinned ? "unpin (i)" : "pin to the top (i)", "aria-label": "pin"}, "◆") : span("pin", "")
    ].filter(Boolean);
  }

  #click(event) {
    const {fold, pin} = event.target.dataset, key = event.target.closest(".name")?.dataset.key;
    if (fold)
      this.toggle("folded", fold);
    else if (pin)
      this.toggle("pins", pin);
    else if (key?.startsWith("p"))
      this.toggle("folded", key);
    else if (key)
      this.state.change({lane: key === this.state.lane ? null : key});
  }

  toggle(what, key) {
    const set = new Set(this.state[what]);
    if (!set.delete(key))
      set.add(key);
    this.state.change({[what]: set});
  }
}
