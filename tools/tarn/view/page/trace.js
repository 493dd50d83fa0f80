// The server's information on the whole trace, and names.
import {ask} from "./api.js";

export class Trace {
  constructor(info) {
    this.take(info);
  }

  static async load() {
    const [info, known] = await Promise.all([ask("trace"), ask("analyses")]);
    return new Trace({...info, analyses: known.analyses});
  }

  take(info) {
    Object.assign(this, info);
    this.threads = info.threads ?? [];
    this.byNumber = new Map(this.threads.map((thread) => [thread.n, thread])); // numbers may have gaps
    this.cpusInOrder = [...info.cpus].sort((a, b) => a.cpu - b.cpu); // `cpus` is in the order of files
    this.eventNames = new Map(info.events.map((event) => [event.name, event]));
    this.byTid = new Map();
    for (const thread of this.threads)
      if (!thread.idle)
        this.byTid.set(thread.tid, thread); // the last thread with that ID
  }

  // Call this when the index is complete.
  get isReady() {
    return !this.indexing && this.events_total > 0;
  }

  thread(n) {
    return this.byNumber.get(n) ?? {n, tid: -1, pid: -1, name: `thread ${n}`, begin: 0, end: this.duration, idle: false};
  }

  hasLane(key) {
    const [, kind, number] = /^([ct])(\d+)$/.exec(key ?? "") ?? [];
    return kind === "c" ? Number(number) < this.cpus.length : kind === "t" && this.byNumber.has(Number(number));
  }

  // Keys of the lanes that show a thread, best first: its own, its process's, the CPU's.
  lanesOf(n, rank = this.thread(n).cpu) {
    const {idle, pid} = this.thread(n);
    return idle ? [`c${rank}`] : [`t${n}`, `p${pid}`, `c${rank}`];
  }

  // The same for an event of the server's lists. A thread ID may have been reused.
  lanesOfEvent({tid, t, cpu}) {
    const thread = this.threads.findLast((one) => one.tid === tid && !one.idle && one.begin <= t) ?? this.byTid.get(tid);
    return thread ? this.lanesOf(thread.n, cpu) : [`c${cpu}`];
  }

  // The lanes to go to for a lane key.
  lanesFor(key) {
    return key[0] === "t" ? this.lanesOf(Number(key.slice(1))) : [key];
  }

  // The events with these names, as the server expects them.
  eventIndexes(names) {
    return [...names].map((name) => this.eventNames.get(name)?.index).filter((index) => index !== undefined).sort((a, b) => a - b).join();
  }

  threadName(n) {
    const thread = this.thread(n);
    return thread.idle ? `idle` : `${thread.name} (${thread.tid})`;
  }

  cpu(rank) {
    return this.cpus[rank]?.cpu ?? rank;
  }
}
