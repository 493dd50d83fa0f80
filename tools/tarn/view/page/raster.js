// Draws many small plain rectangles into one image. A canvas makes a command of each rectangle, which is slower than writing
// the pixels.

const WIDE = 16; // pixels; from this width on fill() is faster than a loop
const values = new Map(); // colour -> pixel value

// The pixel value of #rgb or #rrggbb, opaque, in the machine's byte order.
function pixelOf(color) {
  let value = values.get(color);
  if (value === undefined) {
    const digits = color.length === 4 ? color.replace(/[^#]/g, "$&$&") : color, rgb = parseInt(digits.slice(1), 16);
    [value] = new Uint32Array(Uint8Array.of(rgb >> 16, rgb >> 8, rgb, 255).buffer);
    values.set(color, value);
  }
  return value;
}

export class Raster {
  #canvas = document.createElement("canvas");
  #context = this.#canvas.getContext("2d", {willReadFrequently: true}); // in main memory
  #image = null;
  #pixels;
  #color = "";
  #value = 0;

  // Clears the raster and sets its size to the canvas's; all lengths are in units of `ratio` pixels.
  begin({width, height}, ratio) {
    const isSeen = width > 0 && height > 0; // false for a canvas without space in a small window
    if (isSeen && (this.#image?.width !== width || this.#image.height !== height)) {
      Object.assign(this.#canvas, {width, height});
      this.#image = this.#context.createImageData(width, height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    }
    Object.assign(this, {width, height, ratio, first: height, last: 0});
    this.clip(0, height / ratio);
  }

  // Clips the following rectangles vertically.
  clip(top, bottom) {
    this.top = Math.max(0, Math.round(top * this.ratio));
    this.bottom = Math.min(this.height, Math.round(bottom * this.ratio));
  }

  // Aligns edges to pixels; the minimum width is one. An `alpha` below 1 strengthens existing pixels of the same colour.
  rect(x, y, width, height, color, alpha = 1) {
    const {ratio, width: stride} = this, pixels = this.#pixels;
    const left = Math.round(x * ratio), upper = Math.round(y * ratio);
    const begin = Math.max(0, left), end = Math.min(stride, Math.max(left + 1, Math.round((x + width) * ratio)));
    const top = Math.max(this.top, upper), bottom = Math.min(this.bottom, Math.max(upper + 1, Math.round((y + height) * ratio)));
    if (begin >= end || top >= bottom)
      return;
    if (color !== this.#color) {
      this.#color = color;
      this.#value = pixelOf(color);
    }
    const value = this.#value;
    this.first = Math.min(this.first, top);
    this.last = Math.max(this.last, bottom);
    for (let at = top * stride; at < bottom * stride; at += stride)
      if (alpha < 1)
        this.#thicken(at + begin, at + end, value, alpha);
      else if (end - begin >= WIDE)
        pixels.fill(value, at + begin, at + end);
      else
        for (let i = at + begin; i < at + end; i++)
          pixels[i] = value;
  }

  #thicken(begin, end, value, alpha) {
    const bytes = this.#image.data;
    for (let i = begin; i < end; i++) {
      const before = bytes[i * 4 + 3];
      this.#pixels[i] = value;
      bytes[i * 4 + 3] = before + (255 - before) * alpha;
    }
  }

  // Paints the raster on the canvas and clears it.
  paint(context) {
    const {width, first, last} = this;
    if (first >= last)
      return;
    this.#context.putImageData(this.#image, 0, 0, 0, first, width, last - first);
    context.save();
    context.resetTransform();
    context.drawImage(this.#canvas, 0, first, width, last - first, 0, first, width, last - first);
    context.restore();
    this.#pixels.fill(0, first * width, last * width);
    this.first = this.height;
    this.last = 0;
  }
}
