/* SPDX-License-Identifier: BSD-2-Clause */
/* statedumps.c - the statedumps that a pull has requested; see statedumps.h. */
#include <string.h>
#include <tools/tarn/keep/statedumps.h>

void statedumps_ask(struct statedumps *dumps, uint64_t time)
{
    if (dumps->count == STATEDUMPS_MAX)
        memmove(dumps->begins, dumps->begins + 1, sizeof(dumps->begins[0]) * --dumps->count);
    dumps->begins[dumps->count++] = time;
    dumps->is_asked = true;
}

void statedumps_forget(struct statedumps *dumps)
{
    dumps->count -= dumps->is_asked;
    dumps->is_asked = false;
}

void statedumps_confirm(struct statedumps *dumps, bool is_done)
{
    if (dumps->is_asked && is_done)
        dumps->is_asked = false;
    else if (dumps->is_asked)
        statedumps_forget(dumps);
    dumps->is_possible &= is_done;
}
