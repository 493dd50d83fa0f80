// SPDX-License-Identifier: BSD-2-Clause
// Mouse wheels and touch pads.

const LINE = 18, PAGE = 400; // pixels of what browsers may count in
const PAUSE = 200; // ms without an event: the next one begins another gesture
const DECIDED = 6; // pixels after which a gesture has its direction

export function wheelPixels({deltaX, deltaY, deltaMode}) {
  const unit = deltaMode === 1 ? LINE : deltaMode === 2 ? PAGE : 1;
  return {dx: deltaX * unit, dy: deltaY * unit};
}

// Two fingers never move quite straight. A gesture goes the way of its first few pixels, up and down or sideways, until it ends:
// what it moves the other way is left out.
export class Gesture {
  #last = -Infinity;
  #dx = 0;
  #dy = 0;
  #way = null;

  // What an event moves, in pixels: dx or dy is 0. While the direction is open both are; nothing of them is lost.
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
