// SPDX-License-Identifier: BSD-2-Clause
// Colours. Those of programs come from the server, all others from the style sheet, which has light and dark ones.
import {State} from "./trace.js";

export const MARK_COLORS = 8;

export class Colors {
  constructor(trace) {
    this.trace = trace;
    this.refresh();
  }

  // Call this after the colour scheme has changed.
  refresh() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue("--" + name).trim();
    this.scheme = get("scheme");
    for (const name of ["background", "raised", "line", "line-strong", "text", "quiet", "accent", "selection", "interrupt", "lost",
                        "wakeup", "call", "lock", "box-text", "idle"])
      this[name.replace(/-(.)/g, (_, c) => c.toUpperCase())] = get(name);
    this.activities = this.trace.activities.map(({property}) => get(property));
    this.states = this.trace.states.map(({property}) => get(property));
    this.ready = this.states[State.READY];
    this.marks = Array.from({length: MARK_COLORS}, (_, i) => get("mark-" + i));
    this.patterns = new Map();
  }

  // A process's colours in user code and in the kernel: {user, kernel}.
  process(pid) {
    return (this.trace.processes.get(pid)?.colors ?? this.trace.unknown)[this.scheme];
  }

  // The same of a thread. Idle threads, and none, are the kernel.
  thread(thread) {
    return thread && !thread.idle ? this.process(thread.pid) : this.trace.kernel[this.scheme];
  }

  // Diagonal stripes, which are recognisable without colour.
  stripes(context, color, background) {
    const key = color + background;
    if (!this.patterns.has(key)) {
      const tile = document.createElement("canvas"), c = tile.getContext("2d");
      tile.width = tile.height = 8;
      c.fillStyle = background || "transparent";
      c.fillRect(0, 0, 8, 8);
      c.strokeStyle = color;
      c.lineWidth = 2.5;
      c.beginPath();
      for (const x of [-8, 0, 8]) {
        c.moveTo(x - 2, 10);
        c.lineTo(x + 10, -2);
      }
      c.stroke();
      this.patterns.set(key, context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(key);
  }
}
