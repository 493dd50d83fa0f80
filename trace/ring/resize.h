/*
 * trace/ring/resize.h - gives a ring other sizes and keeps its packets: a plan, which changes nothing; then
 * steps that move packets to their places in the new ring; then the caller stores `eras` and `index`.
 * Meanwhile nothing logs in the ring or reads it.
 *
 * Steps may run in any order: a larger ring's new places are new memory; a smaller ring keeps only as many of
 * the newest words as it holds, so each new place held the same word or one that is not kept.
 */
#pragma once

#include <trace/format/era.h>

#define TRACE_ALL_READ (~0ull)

struct trace_resize {
    struct trace_eras eras; /* of the ring with the new sizes */
    uint64_t index;         /* and its index: no packet is open */
    uint64_t old_words;     /* of the ring */
    uint64_t kept;          /* first word that is kept */
    uint64_t from, end;     /* words that are still to be moved */
};

/* Plans a change of a closed ring, whose index is `index`, to the sizes of `geometry`. Words before `unread`
 * may get lost. False: words that must stay do not fit, or packets of too many sizes are in the ring. */
bool trace_resize_plan(struct trace_resize *resize, const struct trace_eras *eras, uint64_t index,
                       uint64_t unread, uint64_t geometry);
/* Moves words, and counts what is copied down from `most`; `buffers`: the ring's first. True: all are in
 * their places. */
bool trace_resize_move(struct trace_resize *resize, char *buffers, uint64_t *most);
/* Invalidates the headers of buffers that keep no packet. */
void trace_resize_forget(const struct trace_resize *resize, char *buffers);
