/*
 * tools/tarn/goto/emulator.h - the guest of a recipe, from its start or from a copy of its emulator.
 *
 * A library in the emulator (tools/emulator/copies.c) lets it make copies of itself during the run, which
 * outlive tarn. A copy waits at a socket in the recipe's directory, in TMPDIR; the socket's name is the
 * guest's time. tarn connects to the last one before an event, and gets a runner: a process that continues
 * the run, stops at stores to the guest's memory, and ends when tarn does.
 */
#pragma once

#include <tools/tarn/goto/copies.h>
#include <tools/tarn/goto/recipe.h>
#include <tools/tarn/source/memory.h>

#define EMULATOR_MINUTES  30u /* see tools/emulator/copies.c */
#define EMULATOR_PATH_MAX COPIES_PATH_MAX
#define EMULATOR_NO_PLACE UINT64_MAX

struct emulator {
    const struct recipe *recipe;
    char copies[EMULATOR_PATH_MAX - 17]; /* directory of the copies' sockets */
    char socket_path[EMULATOR_PATH_MAX]; /* for gdb, beside them */
    pid_t pid;                           /* the runner; 0: there is none */
    int connection;                      /* to it; -1: none */
    uint64_t began, clock;               /* guest time where the runner began, and where it stopped; ns */
    struct memory *memory;               /* the guest's */
};

enum emulator_got {
    EMULATOR_TIME,   /* it has stopped at the time */
    EMULATOR_STORED, /* it has stopped right after a store that changed the word */
    EMULATOR_ENDED,  /* the guest has ended; its memory is readable */
    EMULATOR_IDLE,   /* the guest waits for ever */
    EMULATOR_FAILED, /* FAIL */
};

/* Whether a run can be repeated: kernel, archive and emulator are unchanged. False: FAIL says what differs,
 * and what to do. */
bool emulator_check_recipe(const struct recipe *recipe, struct fail *fail);
/* Creates the directory. Close it in either case. */
bool emulator_open(struct emulator *emulator, const struct recipe *recipe, struct fail *fail);
/* Makes a stopped runner from the last copy before a guest time, instead of an earlier one. */
bool emulator_start(struct emulator *emulator, uint64_t before, struct fail *fail);
/* Continues the run until a store changes the 8 bytes at PLACE, an offset in the guest's memory, or until a
 * guest time. */
enum emulator_got emulator_go(struct emulator *emulator, uint64_t place, uint64_t until, struct fail *fail);
/* Makes a copy where the runner has stopped at a time. */
bool emulator_copy(struct emulator *emulator, struct fail *fail);
/* Stops the machine at the end of QEMU's translation block, at the next branch, and starts gdb's server at
 * `socket_path`. The runner has stopped at a store. */
bool emulator_serve_gdb(struct emulator *emulator, struct fail *fail);
/* Returns the 8 bytes at an offset in the guest's memory, as they are there. 0 if they cannot be read: the
 * emulator has ended. */
uint64_t emulator_word(const struct emulator *emulator, uint64_t place);
/* Returns the CPU time that the runner has used. */
double emulator_seconds(const struct emulator *emulator);
unsigned emulator_count_copies(const struct emulator *emulator);
/* Ends the copies. */
void emulator_forget(struct emulator *emulator);
void emulator_stop(struct emulator *emulator);
void emulator_close(struct emulator *emulator);
