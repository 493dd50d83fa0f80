// SPDX-License-Identifier: BSD-2-Clause
// Describes what is under the pointer. Arguments, which require a request to the server, appear when the pointer rests.
import {Latest, ask} from "./api.js";
import {element} from "./element.js";
import {fieldsOf} from "./events.js";
import {ARROW_NAMES} from "./arrows.js";
import {Activity, State} from "./trace.js";
import {formatSpan, formatTime} from "./time.js";

const REST = 200; // ms
const ENTRIES = {[Activity.LIBC]: ["libc_entry"], [Activity.SYSCALL]: ["syscall_entry", "ipc_call", "ipc_reply"],
                 [Activity.FAULT]: ["fault_entry"], [Activity.EXCEPTION]: ["exception_entry"], [Activity.IRQ]: ["irq_handler_entry"],
                 [Activity.IPI]: ["irq_ipi_entry"], [Activity.REQUEST]: ["fs_request_begin"]};

export class Tooltip {
  #key = "";
  #timer = 0;
  #asking = new Latest((wish, signal) => this.#load(wish, signal));

  constructor(node, trace) {
    Object.assign(this, {node, trace});
  }

  hide() {
    clearTimeout(this.#timer);
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
      clearTimeout(this.#timer);
      const call = !arrow && !flag && found.calls?.[Math.min(found.depth ?? 0, found.calls.length - 1)];
      if (call && call[4] === 1)
        this.#timer = setTimeout(() => this.#asking.want({key, lines, call, thread: this.trace.thread(found.row.n)}), REST);
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

  #span([begin, end], found) {
    const isCut = (begin > 0 && begin <= found.from) || (end >= found.to && end < this.trace.duration);
    return `${isCut ? "at least " : ""}${formatSpan(end - begin)}, from ${begin > 0 && begin <= found.from ? "before " : ""}${formatTime(begin)}`;
  }

  #merged(count) {
    return count > 1 ? [["merged", `${count} intervals narrower than a pixel; this is the most common`]] : [];
  }

  #lines(found) {
    const {row} = found;
    if (found.shares)
      return row.kind === "cpu" ? this.#cpuShares(row, found.shares) : this.#threadShares(row, found.shares);
    if (found.box)
      return this.#cpuBox(row, found.box, found);
    if (found.state)
      return this.#thread(found);
    if (row.kind === "process")
      return [[this.trace.processName(row.pid)], ["process", row.pid], ["threads", row.members.length]];
    return row.kind === "cpu" && found.isLoaded ? [[`CPU ${this.trace.cpu(row.rank)}`], ["unknown", "nothing was logged, or events were lost"]] : [];
  }

  #who(n) {
    const thread = this.trace.thread(n);
    return thread.idle ? [] : [["process", `${this.trace.processName(thread.pid)} (${thread.pid})`]];
  }

  #cpuBox(row, box, found) {
    const [, , n, activity, detail, merged] = box, thread = this.trace.thread(n);
    const isAsleep = activity < 0 && detail !== 0;
    return [[`CPU ${this.trace.cpu(row.rank)}: ${isAsleep ? "idle" : this.trace.runnerName(thread)}`], ...this.#who(n),
            ["in", activity >= 0 ? this.trace.activityName(activity, detail) : isAsleep ? "sleep" : thread.idle ? "the idle thread" : "its own code"],
            ["for", this.#span(box, found)], ...this.#merged(merged)];
  }

  #cpuShares(row, {what, parts, grain}) {
    const names = ["user", "kernel", "interrupts", "idle"], left = 100 - parts.reduce((a, b) => a + b);
    return [[`CPU ${this.trace.cpu(row.rank)}`], ["per pixel", formatSpan(grain)],
            ...names.map((name, i) => [name, `${parts[i]} %`]).filter((_, i) => parts[i] > 0),
            ...(left > 1 ? [["unknown", `${left} %`]] : []),
            ...(what >= 0 ? [["runs longest", this.trace.threadName(what)]] : [])];
  }

  #threadShares(row, {what, parts, grain}) {
    const names = ["user", "kernel", "interrupts", "ready"], left = 100 - parts.reduce((a, b) => a + b);
    return [[this.trace.threadName(row.n)], ...this.#who(row.n), ["per pixel", formatSpan(grain)],
            ...names.map((name, i) => [name, `${parts[i]} %`]).filter((_, i) => parts[i] > 0),
            ...(left > 0 && what >= 0 ? [[this.trace.stateName(what), `${left} %`]] : [])];
  }

  #thread(found) {
    const {row, state, calls} = found, [, , kind, other, merged] = state, lines = [[this.trace.threadName(row.n)], ...this.#who(row.n)];
    lines.push([this.trace.stateName(kind), this.#span(state, found)]);
    if (kind === State.RUNNING && other >= 0)
      lines.push(["on", `CPU ${this.trace.cpu(other)}`]);
    else if (kind === State.READY && other >= 0)
      lines.push(["woken by", this.trace.threadName(other)]);
    else if (other >= 0)
      lines.push(["waits for", this.trace.threadName(other)]);
    lines.push(...this.#merged(merged));
    for (const wait of found.waits)
      lines.push(...this.#wait(wait, found));
    for (const call of calls)
      lines.push(["in", `${this.trace.activityName(call[2], call[3])}: ${this.#span(call, found)}` +
                  (call[4] > 1 ? ` (${call[4]} merged)` : "")]);
    return lines;
  }

  #wait(wait, found) {
    const {trace} = this, address = wait.name ? `, at ${wait.lock}` : "";
    const lines = [["waits for", `${trace.lockName(wait)}${address}: ${this.#span([wait.begin, wait.end], found)}`]];
    if (wait.holder >= 0)
      lines.push([trace.isEvent(wait) ? "for thread" : "held by", trace.threadName(wait.holder)]);
    return lines;
  }

  #flag({t, name, count}) {
    return [[count > 1 ? `${name}: ${count} in this pixel` : name], [count > 1 ? "first at" : "at", formatTime(t)]];
  }

  #arrow({begin, end, from, to, kind}) {
    return [[ARROW_NAMES[kind]], ["from", from >= 0 ? this.trace.threadName(from) : "an interrupt or a timer"],
            ["to", this.trace.threadName(to)], ["at", formatTime(begin)], ...(end > begin ? [["took", formatSpan(end - begin)]] : [])];
  }

  // The arguments are in the event that began the call.
  async #load({key, lines, call, thread}, signal) {
    const events = ENTRIES[call[2]].map(name => this.trace.eventNames.get(name)?.index).filter(index => index !== undefined);
    if (!events.length)
      return;
    const reply = await ask("list", {at: call[0], after: 1, tids: thread.tid, events: events.join(",")}, signal);
    const row = reply.rows[0];
    if (this.#key !== key || !row || row.t !== call[0])
      return;
    this.#fill([...lines, ["arguments", fieldsOf(row).map(([name, value]) => `${name} ${value}`).join(", ")]]);
  }
}
