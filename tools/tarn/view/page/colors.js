// Colours, all of which come from the server (styles.h), for light and dark.

export const MARK_COLORS = 8;
export const IS_DARK = matchMedia("(prefers-color-scheme: dark)");

export class Colors {
  constructor(trace) {
    this.trace = trace;
    this.refresh();
  }

  // Call this after the colour scheme has changed.
  refresh() {
    this.isDark = IS_DARK.matches;
    this.known = new Map(); // by the server's words
    this.patterns = new Map();
    for (const name of ["background", "raised", "line", "line-strong", "text", "quiet", "accent", "selection", "interrupt", "wakeup",
                        "call", "lock", "box-text"])
      this[name.replace(/-(.)/g, (_, c) => c.toUpperCase())] = this.of(name);
    this.marks = Array.from({length: MARK_COLORS}, (_, i) => this.of("mark-" + i));
  }

  // A colour as the server names it: a property of the style sheet, or "#LIGHT #DARK".
  of(words) {
    let color = this.known.get(words);
    if (color === undefined) {
      color = words[0] === "#" ? words.split(" ")[Number(this.isDark)]
              : getComputedStyle(document.documentElement).getPropertyValue("--" + words).trim();
      this.known.set(words, color);
    }
    return color;
  }

  // Diagonal stripes, which are recognisable without colour.
  stripes(context, color) {
    if (!this.patterns.has(color)) {
      const tile = document.createElement("canvas"), c = tile.getContext("2d");
      tile.width = tile.height = 8;
      c.strokeStyle = color;
      c.lineWidth = 2.5;
      c.beginPath();
      for (const x of [-8, 0, 8]) {
        c.moveTo(x - 2, 10);
        c.lineTo(x + 10, -2);
      }
      c.stroke();
      this.patterns.set(color, context.createPattern(tile, "repeat"));
    }
    return this.patterns.get(color);
  }
}
