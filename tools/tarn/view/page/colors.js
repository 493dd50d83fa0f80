// SPDX-License-Identifier: BSD-2-Clause
// Colours. A process's colour is a hash of its name, so a program looks the same in every trace. Colours of states and
// activities come from the style sheet, which has light and dark ones.

// Converts OKLCH to #rrggbb. Colours of equal lightness look equally light in OKLCH, so one text colour suits all of them.
function oklch(lightness, chroma, hue) {
  const a = chroma * Math.cos(hue * Math.PI / 180), b = chroma * Math.sin(hue * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3;
  const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                  -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                  -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s];
  return "#" + linear.map((c) => {
    const shown = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
    return Math.round(Math.min(1, Math.max(0, shown)) * 255).toString(16).padStart(2, "0");
  }).join("");
}

// FNV-1a. The start value was chosen so that fs, proc, net, console, traced, init, sh and sort get distant hues.
function hash(text) {
  let h = 25251;
  for (let i = 0; i < text.length; i++)
    h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return (h ^ (h >>> 15)) >>> 0;
}

export const MARK_COLORS = 8;

// Custom properties (CSS) that give the colours of activities.
const ACTIVITY_STYLES = ["libc", "syscall", "fault", "exception", "irq", "ipi", "request"];
const STATE_STYLES = ["running", "ready", "ipc", "receive", "ipc", "notification", "futex", "sleeping", "faulting", "suspended",
                      "dead", "unknown"];

export class Colors {
  #processes = new Map();

  constructor() {
    this.refresh();
  }

  // Call this after the colour scheme has changed.
  refresh() {
    const style = getComputedStyle(document.documentElement);
    const get = (name) => style.getPropertyValue("--" + name).trim();
    this.isDark = get("scheme") === "dark";
    for (const name of ["background", "raised", "line", "line-strong", "text", "quiet", "accent", "selection", "interrupt", "lost",
                        "ready", "wakeup", "call", "lock", "box-text", "idle"])
      this[name.replace(/-(.)/g, (_, c) => c.toUpperCase())] = get(name);
    this.activities = ACTIVITY_STYLES.map((name) => get("activity-" + name));
    this.states = STATE_STYLES.map((name) => get("state-" + name));
    this.marks = Array.from({length: MARK_COLORS}, (_, i) => get("mark-" + i));
    this.#processes.clear();
    this.patterns = new Map();
  }

  // A process's colours in user code and in the kernel. They depend only on the name, so they are the same in every trace. A
  // second part of the hash distinguishes names with similar hues.
  process(name) {
    let found = this.#processes.get(name);
    if (!found) {
      const h = hash(name), hue = h % 360, step = (h >>> 16) % 2 * 0.06;
      found = this.isDark ? {user: oklch(0.54 - step, 0.11, hue), kernel: oklch(0.42 - step, 0.1, hue)}
                          : {user: oklch(0.84 - step, 0.09, hue), kernel: oklch(0.71 - step, 0.13, hue)};
      this.#processes.set(name, found);
    }
    return found;
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
