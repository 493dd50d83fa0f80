/* SPDX-License-Identifier: BSD-2-Clause */
/* own_profile.h - the profiles that a test reads of itself. */
#ifndef TESTS_GUEST_OWN_PROFILE_H
#define TESTS_GUEST_OWN_PROFILE_H

#include <arch/trace.h>
#include <user/tarnprof/tarnprof.h>

/* Leaves the own thread's profile, or that kind of profile of the own process, in `profile`. */
static inline bool read_own(struct tarnprof *profile, enum trace_profile_of of)
{
    profile->serial = 0;
    while (tarnprof_next(profile, TARNPROF_OWN) > 0)
        if (profile->head->of == of &&
            (of != TRACE_PROFILE_THREAD || profile->head->tid == arch_thread_block()->tid))
            return true;
    return false;
}

#endif
