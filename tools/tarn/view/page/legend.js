// SPDX-License-Identifier: BSD-2-Clause
// The legend of colours and shapes.
import {element} from "./element.js";

const LINES = [["process", "program's colour: runs its own code"], ["kernel", "stronger: runs in the kernel"], ["interrupt", "interrupts"],
               ["ready", "striped: ready, waits for a CPU"], ["wait ipc", "a line: waits for a reply"],
               ["wait quiet", "waits for work, a notification, a time"], ["wait futex", "waits for a futex"],
               ["wait faulting", "waits for a page"], ["lock", "waits for a lock, semaphore, condition …; dashed to its holder"],
               ["lost", "unknown: nothing was logged yet, or events were lost"], ["libc", "POSIX call"], ["syscall", "system call"], ["fault", "page fault"],
               ["exception", "exception"], ["irq", "interrupt, within a thread"], ["request", "request in a server"],
               ["wakeup", "arrow: wake-up; dashed: CPU handed over"], ["call", "arrow: IPC call; dashed: its reply"]];

export function legend() {
  return element("div", {class: "legend-list"}, ...LINES.map(([style, text]) =>
    element("div", {class: "legend-line"}, element("i", {class: "legend-box " + style}), text)));
}
