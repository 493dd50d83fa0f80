import {element} from "./element.js";
import {formatSpan, formatTime} from "./time.js";

export class Tooltip {
  #key = "";

  constructor(node, trace) {
    Object.assign(this, {node, trace});
  }

  hide() {
    this.#key = "";
    this.node.hidden = true;
  }

  show(found, x, y, {arrow, flag} = {}) {
    const lines = flag ? this.#flag(flag) : arrow ? this.#arrow(arrow.arrow) : this.#lines(found);
    if (lines.length === 0) {
      this.hide();
      return;
    }
    const key = lines.map((line) => line.join()).join("\n");
    if (key !== this.#key) {
      this.#key = key;
      this.#fill(lines);
    }
    this.#place(x, y);
  }

  #fill(lines) {
    const [title, ...rest] = lines;
    this.node.replaceChildren(element("strong", {}, title[0]), ...rest.map(([name, value]) =>
      element("div", {}, element("span", {class: "quiet"}, name + " "), value)));
  }

  #place(x, y) {
    this.node.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.node;
    this.node.style.left = `${x + 16 + width > innerWidth ? Math.max(4, x - width - 12) : x + 16}px`;
    this.node.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18}px`;
  }

  #span({begin, end}, found) {
    const isCut = (begin > 0 && begin <= found.from) || (end >= found.to && end < this.trace.duration);
    return `${isCut ? "at least " : ""}${formatSpan(end - begin)}, from ${begin > 0 && begin <= found.from ? "before " : ""}${formatTime(begin)}`;
  }

  // The server's lines about a box or a wait, with its time.
  #tip(tip, box, found, more = "") {
    return tip.split("\n").map((line) => line.replace("\x01", () => this.#span(box, found) + more).split("\t"));
  }

  #lines(found) {
    const {row, boxes, shares} = found, title = found.title?.split("\n").map((line) => line.split("\t")) ?? [];
    if (row.kind === "process")
      return [[row.label], ["process", row.pid], ["threads", row.members.length]];
    if (shares)
      return [...title, ...this.#shares(row, shares)];
    if (!boxes?.length)
      return [];
    const [{merged}] = boxes, waits = found.waits.map((wait) => this.#tip(wait.tip, wait, found));
    const calls = boxes.slice(1).map((box) => this.#tip(box.look.tip, box, found, box.merged > 1 ? ` (${box.merged} merged)` : ""));
    return [...title, ...this.#tip(boxes[0].look.tip, boxes[0], found),
            ...(merged > 1 ? [["merged", `${merged} intervals narrower than a pixel; this is the most common`]] : []),
            ...waits.flat(), ...calls.flat()];
  }

  #shares(row, {look, parts, grain}) {
    const names = ["user", "kernel", "interrupts", row.kind === "cpu" ? "idle" : "ready"], left = 100 - parts.reduce((a, b) => a + b);
    const [rest, ...more] = look.tip.split("\n");
    return [["per pixel", formatSpan(grain)], ...names.map((name, i) => [name, `${parts[i]} %`]).filter((_, i) => parts[i] > 0),
            ...(left > (row.kind === "cpu" ? 1 : 0) && rest ? [[rest.split("\t")[0], `${left} %`]] : []),
            ...more.map((line) => line.split("\t"))];
  }

  #flag({t, name, count}) {
    return [[count > 1 ? `${name}: ${count} in this pixel` : name], [count > 1 ? "first at" : "at", formatTime(t)]];
  }

  #arrow({begin, end, from, to, kind}) {
    return [[this.trace.arrows[kind].name], ["from", from >= 0 ? this.trace.threadName(from) : "an interrupt or a timer"],
            ["to", this.trace.threadName(to)], ["at", formatTime(begin)], ...(end > begin ? [["took", formatSpan(end - begin)]] : [])];
  }
}
