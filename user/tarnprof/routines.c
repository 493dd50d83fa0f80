/*
 * routines.c - a program declares routines, by the macro or by -finstrument-functions. Interface: routines.h.
 * tarn/routine.h counts them. Not itself compiled with -finstrument-functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tarn/routine.h>
#include <user/tarnprof/routines.h>
#include <user/tarnprof/tarnprof.h>

static bool has_started; /* atomic */

static void at_exit(void)
{
    tarnprof_show_own(stderr);
}

/* Asks for the number, again if counting has begun anew. */
static __attribute__((noinline)) uint64_t find_number(struct tarnprof_routine *routine, uint64_t known)
{
    const uint64_t number = routine_number(known, routine->name, routine->function);
    const char *wanted;
    __atomic_store_n(&routine->number, number, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&has_started, true, __ATOMIC_RELAXED) && (wanted = getenv("TARNPROF")) &&
        *wanted && *wanted != '0')
        atexit(at_exit);
    return number;
}

void tarnprof_enter(struct tarnprof_routine *routine)
{
    if (!DECLARED_ROUTINES_ON())
        return;
    const uint64_t known = __atomic_load_n(&routine->number, __ATOMIC_RELAXED),
                   number = routine_number_holds(known) ? known : find_number(routine, known);
    routine_enter((uint32_t)(number % TRACE_CONTEXTS));
}

void tarnprof_leave(void)
{
    if (DECLARED_ROUTINES_ON())
        routine_leave();
}

/* ---- -finstrument-functions ---- */

#define FUNCTIONS 4096u /* a power of two: twice as many as are expected */
static struct tarnprof_routine functions[FUNCTIONS];

/* NULL: there are too many. */
static struct tarnprof_routine *find_function(void *function)
{
    for (uint32_t i = (uint32_t)((uintptr_t)function * 0x9e3779b97f4a7c15ull >> 40), probes = 0; probes < 64;
         i++, probes++) {
        struct tarnprof_routine *routine = &functions[i % FUNCTIONS];
        const void *none = NULL;
        if (__atomic_load_n(&routine->function, __ATOMIC_RELAXED) == function ||
            __atomic_compare_exchange_n(&routine->function, &none, function, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED) ||
            none == function)
            return routine;
    }
    return NULL;
}

/* GCC's names. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
    static struct tarnprof_routine others = {.name = "others"};
    (void)caller;
    if (!DECLARED_ROUTINES_ON())
        return;
    struct tarnprof_routine *routine = find_function(function);
    tarnprof_enter(routine ? routine : &others);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
    tarnprof_leave();
}
