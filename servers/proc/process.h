/*
 * process.h - the process table: parents, children, and pending waits.
 *
 * States of a record:
 *
 *     process_add        process_set_exit (exit, kill, fault)       process_finish: the space is dead
 *        RUNNING ----------------------------------> ENDING --------------------------> ZOMBIE
 *           \_____ the last thread ended by itself _______________________________________/   \
 *                                                                             its parent waits: freed
 *
 * A zombie is only this record. When a parent ends, init adopts its children; they are freed when they end,
 * without a wait. The table does not use capabilities, but stores one space for each process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server_request;

#define PROCESS_DEATH_BITS 62u

void process_init(uint32_t init_pid);

/* Adds a process that has not started yet. *death_bit receives its bit for space_watch. The name is for
 * messages; asking the kernel for it would need memory. Returns 0, -ENOMEM, -EEXIST, or -ESRCH if the parent
 * does not exist. */
int process_add(uint32_t pid, const char *name, uint32_t parent, uint32_t space, unsigned *death_bit);
/* Copies the name, truncated if necessary; "?" if there is no such process. */
void process_get_name(uint32_t pid, char *name, size_t size);
void process_remove(uint32_t pid);
/* It could not be started: kills it, and its parent cannot wait for it. The reaper does the rest. */
void process_abandon(uint32_t pid);

/* Sets the exit status and kills the process (kill_space). The first status counts: returns false if there is
 * one already, or no such process. */
bool process_set_exit(uint32_t pid, int status);
/* The same in two steps, for callers that must act in between and so may end the process themselves. */
bool process_note_exit(uint32_t pid, int status);
void process_kill_noted(uint32_t pid);
/* Provided by reap.c. The slot names that process's space until all threads that kill it have returned. */
void kill_space(uint32_t space, int status);
void close_space(uint32_t space);
/* Provided by reap.c, too. The heir gets the space's counted routines (trace/format/routine.h) when it ends.
 */
void inherit_routines(uint32_t space, uint32_t heir);

/* The space is dead and must not be killed any more. Returns it, to be closed by the caller, or 0 if it was
 * returned already, or a thread that still uses it will close it. */
uint32_t process_take_space(uint32_t pid);
/* All servers know of the death: replies to waiters. */
bool process_finish(uint32_t pid);

/* Handles PROC_WAIT. Returns pid, 0, -ECHILD or SERVER_LATER. */
int64_t process_wait(uint32_t parent, struct server_request *request);

bool process_exists(uint32_t pid); /* false for zombies */
int64_t process_parent(uint32_t pid);
/* Stores the process and its live descendants, parents first. Returns their number, at most `max`. */
unsigned process_tree(uint32_t pid, uint32_t *pids, unsigned max);
/* Stores the processes whose death bit is in `bits`. Returns their number, at most `max`. */
unsigned process_with_bits(uint64_t bits, uint32_t *pids, uint32_t *spaces, unsigned max);
/* Drops the pending waits of a process that ended. */
void process_forget_waits(uint32_t pid);
