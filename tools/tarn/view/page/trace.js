// SPDX-License-Identifier: BSD-2-Clause
// The server's information on the whole trace, and names.
import {ask} from "./api.js";

export const State = {RUNNING: 0, READY: 1, SEND: 2, RECEIVE: 3, REPLY: 4, NOTIFICATION: 5, FUTEX: 6, SLEEPING: 7, FAULT: 8,
                      SUSPENDED: 9, DEAD: 10, UNKNOWN: 11};
export const Activity = {LIBC: 0, SYSCALL: 1, FAULT: 2, EXCEPTION: 3, IRQ: 4, IPI: 5, REQUEST: 6};

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
    this.processes = new Map((info.processes ?? []).map((process) => [process.pid, process]));
    this.cpusInOrder = [...info.cpus].sort((a, b) => a.cpu - b.cpu); // `cpus` is in the order of files
    this.eventNames = new Map(info.events.map((event) => [event.name, event]));
    this.classNames = new Map(info.classes.map((kind) => [kind.id, kind.name]));
    this.byTid = new Map();
    for (const thread of this.threads)
      if (!thread.idle)
        this.byTid.set(thread.tid, thread); // the last thread with that ID
  }

  // Call this when the index is complete.
  get isReady() {
    return !this.indexing && this.events_total > 0;
  }

  // The last part of a path, or the full name of a source such as tcp:127.0.0.1:7000.
  get title() {
    return /^[a-z]+:/.test(this.name) ? this.name : this.name.split("/").filter(Boolean).slice(-2).join("/");
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

  processName(pid) {
    return this.processes.get(pid)?.name ?? (pid >= 0 ? `process ${pid}` : "unknown");
  }

  threadName(n) {
    const thread = this.thread(n);
    return thread.idle ? `idle` : `${thread.name || this.processName(thread.pid)} (${thread.tid})`;
  }

  // Of a CPU that is awake. Its idle thread then works for the kernel: it frees what dead processes leave, say.
  runnerName(thread) {
    return thread.idle ? "kernel work" : this.threadName(thread.n);
  }

  cpu(rank) {
    return this.cpus[rank]?.cpu ?? rank;
  }

  stateName(state) {
    return this.states[state]?.name ?? `state ${state}`;
  }

  // The label of a box: "syscall read", or "read" if it is narrow.
  activityName(activity, detail) {
    const kind = this.activities[activity]?.name ?? "activity", name = this.detailName(activity, detail);
    return name ? `${kind} ${name}` : kind;
  }

  // A number alone is meaningless.
  shortName(activity, detail) {
    const name = this.detailName(activity, detail);
    return name && Number.isNaN(Number(name)) ? name : this.activityName(activity, detail);
  }

  // "kernel lock run queue", "user mutex “stack of items”": the lock of a wait, by type and name.
  lockName({class: kind, pid, name, lock}) {
    const known = this.details.lock_class?.[kind] ?? "";
    const what = pid === 0 ? `kernel lock ${known}` : known || "lock";
    return `${what.trimEnd()} ${name ? `“${name}”` : lock}`;
  }

  // An event has no holder: a semaphore, a condition, a barrier, ...
  isEvent({class: kind}) {
    return this.details.lock_events?.includes(kind) ?? false;
  }

  detailName(activity, detail) {
    if (detail < 0)
      return "";
    const names = this.details[this.activities[activity]?.details];
    return names?.[detail] ?? String(detail);
  }
}
