/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/goto/freezer.h - stops the emulator's threads at a store to the guest's memory, without changing
 * the run.
 *
 * QEMU's own breakpoints change it: a stopped vCPU loses its turn, or the clock advances to the next timer
 * while all others sleep. So tarn traces the emulator's threads with ptrace, and sets the host's debug
 * registers to the host address of a word of the guest's memory. The thread stops right after a store,
 * whatever guest address was used, and the guest does not notice.
 *
 * In some virtual machines the debug registers have no effect. There tarn makes the word's page read-only: a
 * store to it faults, and is executed in one step with the page writable. This is slower, and stops only if
 * the word has changed.
 */
#ifndef TARN_GOTO_FREEZER_H
#define TARN_GOTO_FREEZER_H

#include <sys/types.h>
#include <tools/tarn/goto/remote.h>
#include <tools/tarn/tarn.h>

#define FREEZER_THREADS_MAX 64u

struct freezer {
    pid_t pid;
    struct freezer_thread {
        pid_t id;
        bool is_stopped; /* and tarn has waited for it */
        bool is_ending;  /* it is stopped at its end */
        int signal;      /* delivered when it resumes; 0: none */
    } threads[FREEZER_THREADS_MAX];
    unsigned count;
    /* without debug registers: */
    uint64_t page;           /* read-only; 0: none */
    uint64_t watched, value; /* address of the word in it, and what it was last */
    struct remote remote;    /* open while there is a page */
};

enum freezer_got { FREEZER_STORED, FREEZER_INTERRUPTED, FREEZER_ENDED, FREEZER_FAILED };

/* Seizes and stops all threads. */
bool freezer_open(struct freezer *freezer, pid_t pid, struct fail *fail);
/* Makes the stopped threads watch 8 bytes at ADDRESS in the emulator, instead of earlier ones. 0: nothing. */
bool freezer_watch(struct freezer *freezer, uint64_t address, struct fail *fail);
/* Stops all threads, the main one first. */
void freezer_stop(struct freezer *freezer);
/* Whether a stopped thread is at its end, so that it can execute nothing more. */
bool freezer_is_ending(const struct freezer *freezer);
/* Resumes the stopped threads, the main one last. */
void freezer_resume(struct freezer *freezer);
/* Resumes only the main thread. */
void freezer_resume_main(struct freezer *freezer);
/* Waits until a thread has stored there; it is stopped then, and the others continue. INTERRUPTED: tarn got a
 * signal. ENDED: the emulator has ended; its memory is readable while its main thread is held. */
enum freezer_got freezer_wait(struct freezer *freezer, struct fail *fail);
/* Waits until the emulator's main thread waits for another thread. */
bool freezer_wait_asleep(const struct freezer *freezer, struct fail *fail);
/* Detaches from all threads. */
void freezer_close(struct freezer *freezer);
/* Removes the main thread, and returns it if it is held. 0: the emulator has ended. */
pid_t freezer_hold(struct freezer *freezer);
/* Detaches from all threads but one, which it resumes and returns, so that the emulator still ends with tarn.
 */
pid_t freezer_let_run(struct freezer *freezer);

#endif
