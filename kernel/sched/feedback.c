/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feedback.c - the boot option `feedback=`: which decisions follow the system's own tables
 * (docs/feedback.md).
 *
 *     feedback=all, spin, placement, or both, separated by a comma
 *
 * With one CPU there is nothing to place.
 */
#include <arch/trace.h>
#include <kernel/cpu/cpu.h>
#include <kernel/kernel.h>
#include <kernel/sched/placement.h>
#include <kernel/trace/control.h>
#include <trace/format/layout.h>

enum { SPIN = 1, PLACEMENT = 2 };
static const struct {
    const char *word;
    uint32_t uses;
} words[] = {{"spin", SPIN}, {"placement", PLACEMENT}, {"all", SPIN | PLACEMENT}, {"off", 0}};

/* Cuts the word off the list. Returns what it asks for, or ~0: there is no such word. */
static uint32_t take_word(char **list)
{
    char *word = *list, *end = word;
    while (*end && *end != ',')
        end++;
    *list = *end ? end + 1 : end;
    *end = 0;
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strcmp(word, words[i].word))
            return words[i].uses;
    log_line("feedback: there is no '%s'; there are spin, placement, all and off", word);
    return ~0u;
}

void feedback_boot(void)
{
    char text[48], *rest = text;
    uint32_t uses = 0;
    if (!boot_option("feedback=", text, sizeof text))
        return;
    while (*rest) {
        const uint32_t more = take_word(&rest);
        if (more == ~0u)
            return;
        uses |= more;
    }
    trace_tables_in_use |= uses != 0;
    placement_on = uses & PLACEMENT && cpu_count > 1;
    __atomic_store_n(&trace_info_page.lock_feedback, (uses & SPIN) != 0, __ATOMIC_RELAXED);
}
