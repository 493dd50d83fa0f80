// Executes the server's drawing commands of lanes on a canvas; tools/tarn/view/paint.h has their rules.
import {FONT, clipped} from "./canvas.js";
import {BOX, busyShare, firstAfter, sharesOf} from "./data.js";
import {Raster} from "./raster.js";
import {sizes} from "./rows.js";

const FILL = 1, LINE = 2, STRIPES = 3; // shapes

// Plain rectangles go into a raster, where later ones cover earlier ones. end() paints stripes and text over it.
export class LanePainter {
  #widths = new Map();
  #raster = new Raster();
  #parts = [];
  #over; // stripes and text of the current part

  constructor(context, colors) {
    Object.assign(this, {context, colors});
  }

  begin(scale) {
    this.scale = scale;
    this.#parts = [];
    this.#raster.begin(this.context.canvas, scale.ratio);
    this.context.font = FONT;
    this.context.textBaseline = "middle";
  }

  // Clips the following lanes to this part of the canvas.
  part(top, bottom) {
    this.#raster.clip(top, bottom);
    this.#over = [];
    this.#parts.push({top, bottom, over: this.#over});
  }

  end() {
    const {context, scale} = this;
    this.#raster.paint(context);
    for (const {top, bottom, over} of this.#parts)
      clipped(context, top, scale.width, bottom - top, () => over.forEach((paint) => paint()));
  }

  // The row of a lane, at `y`. In one of the overview, which is lower, nothing has a label.
  lane(row, y, pieces) {
    if (row.kind === "process") {
      this.#summary(row, pieces, y + 3, row.height - 6);
      return;
    }
    const factor = row.kind === "cpu" ? row.height / sizes.cpu : 1, top = row.kind === "thread" ? y + sizes.padding : y;
    for (const piece of pieces)
      piece.lane.rows.slice(0, 1 + (row.depth ?? 0)).forEach((boxes, depth) => this.#each(boxes, piece, (i, x, width) => {
        const look = piece.lane.looks[boxes[i + 2]];
        this.#shape(look, row.mark ?? look.color, x, top, width, factor, depth > 0);
        if (look.space)
          this.#shares(look, sharesOf(boxes[i + 3]), x, top, width, factor);
      }));
  }

  // A folded process shows where any of its threads runs, one drawn over the other.
  #summary(row, pieces, y, space) {
    const raster = this.#raster, color = this.colors.of(row.color);
    for (const piece of pieces) {
      const {looks, rows: [boxes]} = piece.lane;
      this.#each(boxes, piece, (i, x, width) => {
        const look = looks[boxes[i + 2]], busy = look.space ? busyShare(boxes[i + 3]) : 100 * (look.shape === FILL);
        const high = Math.max(2, space * busy / 100);
        if (busy > 0)
          raster.rect(x, y + space - high, width, high, color, 0.7);
      });
    }
  }

  // Calls `paint(i, x, width)` for each box in the piece that the previous box does not hide. The minimum width is one pixel.
  #each(boxes, piece, paint) {
    const {scale} = this, least = 1 / scale.ratio;
    let edge = -Infinity;
    for (let i = firstAfter(boxes, piece.from); i < boxes.length && boxes[i] < piece.to; i += BOX) {
      const x = scale.snap(Math.max(boxes[i], piece.from)), end = scale.snap(Math.min(boxes[i + 1], piece.to));
      const right = Math.max(end, x + least);
      if (right <= edge)
        continue;
      paint(i, x, right - x);
      edge = right;
    }
  }

  #shape(look, words, x, top, width, factor, isCall) {
    const {shape} = look, y = top + look.y * factor, height = look.height * factor, color = this.colors.of(words);
    if (shape === FILL) {
      this.#raster.rect(x, y, isCall && width > 2 ? width - 1 / this.scale.ratio : width, height, color);
      if (factor === 1 && width > (look.brief ? sizes.least : sizes.whole) && look.label)
        this.#label(width <= sizes.brief && look.brief || look.label, x, y + (height + isCall) / 2, width,
                    look.color === "interrupt" ? this.colors.background : this.colors.boxText);
    } else if (shape === LINE) {
      this.#raster.rect(x, y, width, look.height, color);
      if (width > sizes.brief && look.label)
        this.#lineLabel(look.label, x, y + 1, width);
    } else if (shape === STRIPES) {
      this.#stripes(x, y, width, height, color);
    }
  }

  #shares(look, shares, x, top, width, factor) {
    const space = look.space * factor, high = (share) => Math.max(1, Math.round(space * share / 100));
    let y = top + look.bottom * factor;
    for (let part = 0; part < 3; part++) {
      if (shares[part] === 0)
        continue;
      y -= high(shares[part]);
      this.#raster.rect(x, y, width, high(shares[part]), this.colors.of(look.shares[part]));
    }
    if (look.over && shares[3] > 0)
      this.#stripes(x, top + look.bottom - space, width, high(shares[3]), this.colors.of(look.over));
  }

  #stripes(x, y, width, height, color) {
    if (width < 3)
      this.#raster.rect(x, y, width, height, color);
    else
      this.#over.push(() => {
        this.context.fillStyle = this.colors.stripes(this.context, color);
        this.context.fillRect(x, y, width, height);
      });
  }

  #width(text) {
    let width = this.#widths.get(text);
    if (width === undefined) {
      if (this.#widths.size > 5000)
        this.#widths.clear();
      this.#widths.set(text, width = this.context.measureText(text).width);
    }
    return width;
  }

  // Truncates the text to fit; "" if the result would be meaningless.
  #fit(text, space) {
    if (this.#width(text) <= space)
      return text;
    const keep = Math.floor(text.length * space / this.#width(text)) - 1;
    return keep >= 2 ? text.slice(0, keep) + "…" : "";
  }

  // A box that begins left of the canvas is labelled where it becomes visible.
  #label(text, x, y, width, color) {
    const from = Math.max(x, 0), shown = this.#fit(text, Math.min(x + width, this.scale.width) - from - 6);
    if (shown)
      this.#over.push(() => {
        this.context.fillStyle = color;
        this.context.fillText(shown, from + 3, y + 0.5);
      });
  }

  #lineLabel(label, x, y, width) {
    const text = this.#fit(label, Math.min(width - 20, 260)), {context, colors} = this, from = Math.max(x, 0) + 8;
    if (text && from + this.#width(text) + 8 <= x + width)
      this.#over.push(() => {
        context.fillStyle = colors.background;
        context.fillRect(from - 3, y - 6, this.#width(text) + 6, 12);
        context.fillStyle = colors.quiet;
        context.fillText(text, from, y + 0.5);
      });
  }
}

// {row, t, title?, shares?, boxes?, waits?, depth?, from, to}; null: no lane. `boxes` are those at the time, {begin, end, look,
// merged}: a state or what a CPU does, then calls, the outermost first. What begins at `from` or ends at `to` may extend beyond
// the loaded data.
export function hit(x, y, scale, rows, data) {
  const row = rows.at(y), t = scale.t(x);
  if (!row || row.kind === "process")
    return row && {row, t};
  const piece = data.pieces(row.key, scale.from, scale.to).find((p) => p.from <= t && t <= p.to);
  if (!piece)
    return {row, t};
  const {lane, set: {from, to, grain, waits, isExact}} = piece, slack = 1.5 / scale.factor; // tolerance for boxes one pixel wide
  if (!isExact) {
    const box = boxAt(lane.rows[0], lane.looks, t, slack);
    return {row, t, title: lane.title, shares: box && {look: box.look, parts: sharesOf(box.merged), grain}};
  }
  const under = (wait) => wait.thread === row.n && wait.begin - slack <= t && t <= wait.end + slack;
  const depth = lane.rows.findIndex((boxes) => boxes.length && yIn(lane.looks[boxes[2]], y - rows.yOf(row) - sizes.padding));
  return {row, t, from, to, title: lane.title, depth, waits: [...waits?.values() ?? []].filter(under),
          boxes: lane.rows.map((boxes) => boxAt(boxes, lane.looks, t, slack)).filter(Boolean)};
}

const yIn = (look, y) => y >= look.y && y <= look.y + look.height;

function boxAt(boxes, looks, t, slack) {
  let i = firstAfter(boxes, t);
  if (i >= boxes.length || boxes[i] > t + slack) {
    if (i < BOX || boxes[i - BOX + 1] <= t - slack)
      return null;
    i -= BOX;
  }
  return {begin: boxes[i], end: boxes[i + 1], look: looks[boxes[i + 2]], merged: boxes[i + 3]};
}
