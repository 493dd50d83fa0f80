/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/proc/process.h - the table of processes: who is whose child, who waits for whom.
 *
 * A record's life:
 *
 *     process_add        process_set_exit (exit, kill, fault)       process_finish: the space is dead
 *        RUNNING ----------------------------------> ENDING --------------------------> ZOMBIE
 *           \_____ the last thread ended by itself _______________________________________/   \
 *                                                                             its parent waits: freed
 *
 * A zombie is only this record. A parent that ends leaves its children to init, which does not have to wait
 * for those: they are freed when they end. The table knows no capabilities but carries one space each.
 */
#ifndef SERVERS_PROC_PROCESS_H
#define SERVERS_PROC_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_DEATH_BITS 62u

void process_init(uint32_t init_pid);

/* A new process, not yet started. `death_bit` comes out: the bit for space_watch. 0, -ENOMEM, -EEXIST, or
 * -ESRCH if the parent is no process. */
int process_add(uint32_t pid, uint32_t parent, uint32_t space, uint32_t authority, unsigned *death_bit);
/* What people call it: for messages. Kept here, because the kernel needs memory to tell. */
void process_set_name(uint32_t pid, const char *name);
/* Copies the name, cut to what fits; "?" if there is no such process. */
void process_get_name(uint32_t pid, char *name, size_t size);
/* Takes back what process_add made, as if it had never been. */
void process_remove(uint32_t pid);

/* The status it will have, and its end: calls kill_space. The first status stays; false if it has one already
 * or there is no such process. */
bool process_set_exit(uint32_t pid, int status);
/* The same in two steps, for who must do something between them that may end the process by itself. */
bool process_note_exit(uint32_t pid, int status);
void process_kill_noted(uint32_t pid);
/* Provided by reap.c. Called under the table's lock, so that the slot is still that process's space. */
void kill_space(uint32_t space, int status);

/* The space is dead: nobody shall kill it any more. The space comes out, to be closed; 0: it has gone
 * already. */
uint32_t process_take_space(uint32_t pid);
/* All servers know of the death: answers whoever waits. */
bool process_finish(uint32_t pid);

/* Result of PROC_WAIT: pid, 0, -ECHILD, or SERVER_LATER; the status in *status. */
int64_t process_wait(uint32_t parent, uint64_t pid, bool no_hang, int *status);

bool process_exists(uint32_t pid); /* and is no zombie */
int64_t process_parent(uint32_t pid);
uint32_t process_authority(uint32_t pid);
/* The process and its descendants that live, parents first; how many (at most `max`). */
unsigned process_tree(uint32_t pid, uint32_t *pids, unsigned max);
/* Those whose death bit is set; how many. */
unsigned process_with_bits(uint64_t bits, uint32_t *pids, uint32_t *spaces, unsigned max);
/* Drops what the process waits for: it has ended. */
void process_forget_waits(uint32_t pid);
unsigned process_count(void);

#endif
