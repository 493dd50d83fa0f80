/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_profiles.h - copies profiles of routines (trace/format/profile.h) out of guest memory, without the
 * guest's help; FORMAT.md, "Profiles".
 *
 * A copy is what the system call profile_read returns, in the guest's byte order. Of a running guest a
 * profile is copied twice; if both copies agree, they are of one moment, else it is tried again. What is not
 * of one moment is marked: a row with more updates begun than ended. Contents are untrusted: every address,
 * number and size is checked, and a list that leads in a circle ends.
 */
#ifndef TARN_GUEST_PROFILES_H
#define TARN_GUEST_PROFILES_H

#include <tools/tarn/source/guest.h>
#include <trace/format/profile.h>

struct profile_raw;

/* Zero at first. */
struct guest_profiles {
    struct trace_profile_list list; /* in host byte order, checked */
    uint64_t now;                   /* ticks: the clock was at least so late */
    uint64_t at, serial;            /* head of the profile copied last; 0: none */
    struct profile_raw *raw[2];     /* two copies */
    uint8_t *reply;
    bool program_changed; /* what its program wrote, while it was copied */
};

/* Copies the profile that follows serial number AFTER, 0 at first. *size 0: there is none. The reply is valid
 * until the next call. False: FAIL. */
bool guest_profiles_next(struct guest_profiles *profiles, struct guest *guest, uint64_t after, size_t *size,
                         struct fail *fail);
/* Copies names of routines of programs from this number on, as many as the reply has. *size 0: no more. */
bool guest_profiles_names(struct guest_profiles *profiles, struct guest *guest, uint64_t from, size_t *size,
                          struct fail *fail);
void guest_profiles_free(struct guest_profiles *profiles);

#endif
