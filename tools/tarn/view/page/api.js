// Requests to the server; tools/tarn/view/api.h and the files it names describe them.

// Omits undefined parameters. Throws the server's message, or AbortError. Requests with a side effect are POST.
export async function ask(name, parameters = {}, signal = undefined, method = "GET") {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters))
    if (value !== undefined && value !== null)
      query.set(key, typeof value === "number" ? String(Math.round(value)) : value);
  const response = await fetch(`/api/${name}?${query}`, {method, signal});
  const reply = await response.json();
  if (hasFailed)
    reportFailure(null);
  if (!response.ok)
    throw new Error(reply.error ?? response.statusText);
  return reply;
}

export const wasAborted = (error) => error.name === "AbortError";

// Runs one request at a time, then only the last of those made meanwhile. For data that the view needs while it moves.
// `run` gets the wish and a signal; `stale` says whether a running request is no longer needed.
export class Latest {
  #next;
  #current = null;
  #abort = null;

  constructor(run, stale = () => false) {
    Object.assign(this, {run, stale});
  }

  want(wish) {
    this.#next = wish;
    if (!this.#current)
      this.#go();
    else if (this.stale(this.#current, wish))
      this.#abort.abort();
  }

  // Cancels the request.
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
        await this.run(this.#current, this.#abort.signal);
      } catch (error) {
        if (!wasAborted(error))
          reportFailure(error);
      }
      this.#current = null;
    }
  }
}

// Reports a lost server once, not once per request; null: it is available again.
let report = () => {}, hasFailed = false;
export function onFailure(callback) {
  report = callback;
}
export function reportFailure(error) {
  hasFailed = error !== null;
  report(error);
}
