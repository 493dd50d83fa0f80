/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/freezer.h - stops the emulator's threads from the host at a store to the guest's memory,
 * without changing the guest's run.
 *
 * QEMU's own stops change it: a stopped vCPU loses its turn, or the clock advances to the next timer while
 * all others sleep. So tarn traces the emulator's threads (ptrace), and sets the host's debug registers to
 * the host's address of a word of the guest's memory. Whatever guest address a store uses, the thread stops
 * right after the store, and the guest notices nothing.
 */
#ifndef TARN_GOTO_FREEZER_H
#define TARN_GOTO_FREEZER_H

#include <sys/types.h>
#include <tools/tarn/tarn.h>

#define FREEZER_THREADS_MAX 64u

struct freezer {
    pid_t pid;
    struct freezer_thread {
        pid_t id;
        bool is_stopped; /* and was waited for */
        bool is_ending;  /* where it stands */
        int signal;      /* that goes to it when it runs again; 0: none */
    } threads[FREEZER_THREADS_MAX];
    unsigned count;
};

enum freezer_got { FREEZER_STORED, FREEZER_INTERRUPTED, FREEZER_ENDED, FREEZER_FAILED };

/* Takes hold of all threads, and stops them. */
bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail);
/* Has the threads that are stopped watch 8 bytes at ADDRESS in the emulator, in place of those before. 0:
 * nothing. */
bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail);
/* Stops all threads, the main one first. */
void freezer_stop(struct freezer *freezer);
/* Is one of the stopped threads at its end? It cannot be made to do anything else. */
bool freezer_is_ending(const struct freezer *freezer);
/* Lets the stopped threads run, the main one last. */
void freezer_resume(struct freezer *freezer);
/* Of them only the main thread. */
void freezer_resume_main(struct freezer *freezer);
/* Until a thread has stored there: it is stopped then, and the others go on. INTERRUPTED: a signal has come
 * to tarn. ENDED: the emulator has; if its main thread is still held, its memory can be read. */
enum freezer_got freezer_wait(struct freezer *freezer, struct fail *fail);
/* Until the emulator's main thread sleeps for another thread to do something. */
bool freezer_wait_asleep(const struct freezer *freezer, struct fail *fail);
/* Detaches from all threads. */
void freezer_close(struct freezer *freezer);
/* Forgets the main thread, and returns it if it is held. 0: the emulator is gone. */
pid_t freezer_hold(struct freezer *freezer);
/* Detaches from all threads but one, which it returns and which runs: so the emulator still ends with tarn.
 */
pid_t freezer_let_run(struct freezer *freezer);

#endif
