/* SPDX-License-Identifier: BSD-2-Clause */
/* print_sides.h - prints events of two sides that are compared, one by one and without the newline. */
#ifndef TARN_PRINT_SIDES_H
#define TARN_PRINT_SIDES_H

#include <stdio.h>
#include <tools/tarn/print/print.h>

struct print_sides {
    FILE *file;
    struct out out; /* a buffer that print_side() empties */
    struct printer printers[2];
};

/* Times are relative to the start of A. False: FAIL; to be closed all the same. */
bool print_sides_open(struct print_sides *sides, const struct trace *a, const struct trace *b,
                      enum print_style style, FILE *file, struct fail *fail);
void print_side(struct print_sides *sides, unsigned side, const struct cursor *cursor);
void print_sides_close(struct print_sides *sides);

#endif
