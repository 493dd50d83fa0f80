/*
 * diff.h - the traces that `tarn diff` compares: by tables in diff.c, or event by event, with --first, in
 * diff_first.c.
 */
#pragma once

#include <tools/tarn/analysis/analysis.h>

#define DIFF_ANALYSES_MAX 24u

struct run {
    const char *directory;
    char name[4]; /* "A", or "A1", if its side has several */
    struct trace trace;
    bool is_open;
    struct filter filter;
    struct losses losses;
    unsigned count;                                   /* of analyses */
    struct analysis *analyses[DIFF_ANALYSES_MAX + 1]; /* the last one is stats, which counts events */
    struct symbols *symbols;                          /* NULL: no analysis needs them */
    double unit;
};

/* Opens the trace and the filter. On failure FAIL says why, and `is_open` whether the trace was opened. */
bool diff_open_run(struct run *run, struct fail *fail);
void diff_tell_losses(const struct run *run); /* to stderr */
/* For --first; returns an exit status. */
int diff_first(struct run *runs, bool only_order);
