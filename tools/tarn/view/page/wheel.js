// SPDX-License-Identifier: BSD-2-Clause
// Mouse wheels and touch pads.

const LINE = 18, PAGE = 400; // pixels per line and page, units that browsers may use
const PAUSE = 200; // ms without an event that separate gestures
const DECIDED = 6; // pixels after which the direction of a gesture is fixed

export function wheelPixels({deltaX, deltaY, deltaMode}) {
  const unit = deltaMode === 1 ? LINE : deltaMode === 2 ? PAGE : 1;
  return {dx: deltaX * unit, dy: deltaY * unit};
}

// Two fingers never move quite straight. The first few pixels of a gesture decide its direction, vertical or horizontal; movement
// in the other direction is ignored until it ends.
export class Gesture {
  #last = -Infinity;
  #dx = 0;
  #dy = 0;
  #way = null;

  // The movement of an event in pixels; dx or dy is 0. While the direction is undecided both are 0, and the movement is kept.
  take(event) {
    const {dx, dy} = wheelPixels(event);
    if (event.timeStamp - this.#last > PAUSE)
      this.#dx = this.#dy = this.#way = null;
    this.#last = event.timeStamp;
    if (this.#way)
      return this.#way === "x" ? {dx, dy: 0} : {dx: 0, dy};
    this.#dx += dx;
    this.#dy += dy;
    const x = Math.abs(this.#dx), y = Math.abs(this.#dy);
    if (Math.max(x, y) < DECIDED)
      return {dx: 0, dy: 0};
    this.#way = x > y ? "x" : "y";
    return x > y ? {dx: this.#dx, dy: 0} : {dx: 0, dy: this.#dy};
  }
}
