// SPDX-License-Identifier: BSD-2-Clause
// Colours. Those of programs come from the server, all others from the style sheet, which has light and dark ones.

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
    this.known = new Map(); // by the server's words
    this.marks = Array.from({length: MARK_COLORS}, (_, i) => get("mark-" + i));
    this.patterns = new Map();
  }

  // A process's colours in user code and in the kernel: {user, kernel}.
  process(pid) {
    return (this.trace.processes.get(pid)?.colors ?? this.trace.unknown)[this.scheme];
  }

  // A colour of the server's drawing commands: a name in the style sheet, or "#LIGHT #DARK".
  of(words) {
    let color = this.known.get(words);
    if (color === undefined) {
      color = words[0] === "#" ? words.split(" ")[this.scheme === "dark" ? 1 : 0]
              : getComputedStyle(document.documentElement).getPropertyValue("--" + words).trim();
      this.known.set(words, color);
    }
    return color;
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
