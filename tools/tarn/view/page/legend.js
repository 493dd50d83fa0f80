// SPDX-License-Identifier: BSD-2-Clause
// What colours and shapes mean.
import {element} from "./element.js";

const LINES = [["process", "colour of the program: runs its own code"], ["kernel", "stronger: in the kernel for it"], ["interrupt", "interrupts"],
               ["ready", "striped: ready, waits for a processor"], ["wait ipc", "a line: waits for an answer"],
               ["wait quiet", "waits for work, a notification, a time"], ["wait futex", "waits for a futex"],
               ["wait faulting", "waits for a page"], ["lock", "waits for a lock, semaphore, condition …; dashed to its holder"],
               ["lost", "not known: nothing was logged yet, or it was lost"], ["libc", "POSIX call"], ["syscall", "system call"], ["fault", "page fault"],
               ["exception", "exception"], ["irq", "interrupt, inside a thread"], ["request", "request in a server"],
               ["wakeup", "arrow: wake-up; dashed: handed over"], ["call", "arrow: IPC call; dashed: its reply"]];

export function legend() {
  return element("div", {class: "legend-list"}, ...LINES.map(([style, text]) =>
    element("div", {class: "legend-line"}, element("i", {class: "legend-box " + style}), text)));
}
