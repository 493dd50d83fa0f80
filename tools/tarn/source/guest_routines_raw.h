/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guest_routines_raw.h - what the files of guest_routines.h share: guest_routines.c copies tables as they
 * are in memory, guest_routines_reply.c completes them, as the kernel does (trace/ring/routine_copy.h).
 */
#ifndef TARN_GUEST_ROUTINES_RAW_H
#define TARN_GUEST_ROUTINES_RAW_H

#include <tools/tarn/source/guest_routines.h>
#include <trace/ring/routine_copy.h>

/* The maximum by which a time may be later than the kernel's last noted moment. */
#define LATE_SECONDS 60u

/* All that is copied of a table, in the guest's byte order but for the head. */
struct routines_raw {
    struct trace_routines_head head;
    struct open_routines open;
    uint64_t context;
    char name[16];
    struct trace_routine_row rows[]; /* head.count */
};
#define RAW_BYTES(count) (sizeof(struct routines_raw) + (count) * sizeof(struct trace_routine_row))
#define ROWS_MAX                                                             \
    ((uint32_t)((TRACE_ROUTINES_BYTES_MAX - sizeof(struct trace_routines)) / \
                    sizeof(struct trace_routine_row) -                       \
                TRACE_PROGRAM_ROWS_MAX - TRACE_ROUTINES_ROWS_BESIDES))
#define PAGE_BYTES 4096u

/* The head.program_pages pages that the thread's program writes; they follow space for all rows. */
static inline struct trace_program *program_of(struct routines_raw *raw)
{
    return (struct trace_program *)((char *)raw + RAW_BYTES(ROWS_MAX));
}

static inline void swap_words(const struct guest *guest, void *words, size_t bytes)
{
    for (size_t i = 0; guest->swap && i < bytes / 8; i++)
        ((uint64_t *)words)[i] = __builtin_bswap64(((uint64_t *)words)[i]);
}

/* Swaps the two 32-bit fields of words whose bytes have been swapped. */
static inline void swap_halves(const struct guest *guest, void *pairs, size_t bytes)
{
    for (size_t i = 0; guest->swap && i < bytes / 8; i++) {
        uint64_t *word = (uint64_t *)pairs + i;
        *word = *word >> 32 | *word << 32;
    }
}

static inline void make_open_native(const struct guest *guest, struct open_routines *open)
{
    swap_words(guest, open, sizeof(*open));
    swap_halves(guest, &open->depth, 8);
}

/* Learns how late the clock is. A time that is far from the others is not believed. */
void guest_routines_learn(struct guest_routines *routines, const struct guest *guest, uint64_t time);
/* Makes routines->reply of raw[0]. Returns its size. */
size_t guest_routines_complete(struct guest_routines *routines, struct guest *guest);

#endif
