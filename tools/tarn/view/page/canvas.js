// Drawing on a canvas: the scale of time, and plain shapes.

export const FONT = "11px system-ui, sans-serif";

// Converts times to canvas pixels, aligned to device pixels so that edges are sharp.
export class Scale {
  constructor(from, to, width, ratio = devicePixelRatio) {
    Object.assign(this, {from, to, width, ratio, factor: width / (to - from)});
  }

  x(t) {
    return (t - this.from) * this.factor;
  }

  snap(t) {
    return Math.round((t - this.from) * this.factor * this.ratio) / this.ratio;
  }

  t(x) {
    return this.from + x / this.factor;
  }
}

// Gives a canvas of this size in CSS pixels as many pixels as the screen has for it.
export function resize(canvas, width, height) {
  canvas.width = Math.round(width * devicePixelRatio);
  canvas.height = Math.round(height * devicePixelRatio);
}

// Returns the context of a canvas, in CSS pixels.
export function contextOf(canvas) {
  const context = canvas.getContext("2d");
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}

export function box(context, color, x, y, width, height, alpha = 1) {
  context.globalAlpha = alpha;
  context.fillStyle = color;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

export function line(context, x0, y0, x1, y1, dash = []) {
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.setLineDash([]);
}

export function polygon(context, ...points) {
  context.beginPath();
  for (const [x, y] of points)
    context.lineTo(x, y);
  context.closePath();
  context.fill();
}

// Draws what `paint` draws inside a rectangle.
export function clipped(context, top, width, height, paint) {
  context.save();
  context.beginPath();
  context.rect(0, top, width, height);
  context.clip();
  paint();
  context.restore();
}
