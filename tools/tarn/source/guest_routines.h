/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_routines.h - copies tables of routines (trace/format/routine.h) out of guest memory, without the
 * guest's help; FORMAT.md, "Routines".
 *
 * A copy is what the system call routines_read returns, in the guest's byte order. Of a running guest a
 * table is copied twice; if both copies agree, they are of one moment, else it is tried again. What is not
 * of one moment is marked: a row with more updates begun than ended. Contents are untrusted: every address,
 * number and size is checked, and a list that leads in a circle ends.
 */
#ifndef TARN_GUEST_ROUTINES_H
#define TARN_GUEST_ROUTINES_H

#include <tools/tarn/source/guest.h>
#include <trace/format/routine.h>

struct routines_raw;

/* Zero at first. */
struct guest_routines {
    struct trace_routines_list list; /* in host byte order, checked */
    uint64_t now;                    /* ticks: the clock was at least so late */
    uint64_t at, serial;             /* head of the table copied last; 0: none */
    struct routines_raw *raw[2];     /* two copies */
    uint8_t *reply;
    bool program_changed; /* its program wrote to its rows while they were copied */
};

/* Copies the table that follows serial number AFTER, 0 at first. *size 0: there is none. The reply is valid
 * until the next call. False: FAIL. */
bool guest_routines_next(struct guest_routines *routines, struct guest *guest, uint64_t after, size_t *size,
                         struct fail *fail);
/* Copies names of routines of programs from this number on, as many as the reply has. *size 0: no more. */
bool guest_routines_names(struct guest_routines *routines, struct guest *guest, uint64_t from, size_t *size,
                          struct fail *fail);
void guest_routines_free(struct guest_routines *routines);

#endif
