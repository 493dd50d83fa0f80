// SPDX-License-Identifier: BSD-2-Clause
// Questions to the server: tools/tarn/view/README.md describes them.

// Numbers in order as the server takes them: 1,5-7.
export function ranges(numbers) {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b), parts = [];
  for (let i = 0, first = 0; i < sorted.length; i++)
    if (sorted[i + 1] !== sorted[i] + 1) {
      parts.push(first === i ? `${sorted[i]}` : `${sorted[first]}-${sorted[i]}`);
      first = i + 1;
    }
  return parts.join(",");
}

// Parameters that are undefined are left out. Throws what the server says, or AbortError.
export const ask = (name, parameters = {}, signal = undefined) => request("GET", name, parameters, signal);
// The same of what does something instead of telling.
export const act = (name, parameters) => request("POST", name, parameters);

async function request(method, name, parameters, signal) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters))
    if (value !== undefined && value !== null)
      query.set(key, typeof value === "number" ? String(Math.round(value)) : value);
  const response = await fetch(`/api/${name}?${query}`, {method, signal});
  const answer = await (response.headers.get("Content-Type") === "image/svg+xml" ? response.text() : response.json());
  if (hasFailed)
    reportFailure(null);
  if (!response.ok)
    throw new Error(answer.error ?? response.statusText);
  return answer;
}

export const wasAborted = (error) => error.name === "AbortError";

// One question at a time, and of those that come meanwhile only the last: what the view wants while it moves. `run` gets the
// wish and a signal; `stale` says whether a question under way is no longer worth waiting for.
export class Latest {
  #run;
  #stale;
  #next;
  #current = null;
  #abort = null;

  constructor(run, stale = () => false) {
    this.#run = run;
    this.#stale = stale;
  }

  want(wish) {
    this.#next = wish;
    if (!this.#current)
      this.#go();
    else if (this.#stale(this.#current, wish))
      this.#abort.abort();
  }

  // Nobody wants the answer any more.
  stop() {
    this.#next = null;
    this.#abort?.abort();
  }

  get isBusy() {
    return this.#current !== null;
  }

  async #go() {
    while (this.#next) {
      this.#current = this.#next;
      this.#next = null;
      this.#abort = new AbortController();
      try {
        await this.#run(this.#current, this.#abort.signal);
      } catch (error) {
        if (!wasAborted(error))
          reportFailure(error);
      }
      this.#current = null;
    }
  }
}

// A server that has gone is one message, not one for each question; null: it answers again.
let report = () => {}, hasFailed = false;
export function onFailure(callback) {
  report = callback;
}
export function reportFailure(error) {
  hasFailed = error !== null;
  report(error);
}
