/* SPDX-License-Identifier: BSD-2-Clause */
/* print_sides.c - see print_sides.h. */
#include <tools/tarn/print/print_sides.h>

bool print_sides_open(struct print_sides *sides, const struct trace *a, const struct trace *b,
                      enum print_style style, FILE *file, struct fail *fail)
{
    *sides = (struct print_sides){.file = file};
    out_open(&sides->out, -1, 0);
    if (!printer_open(&sides->printers[0], a, &sides->out, style, PRINT_TIME_START, fail) ||
        !printer_open(&sides->printers[1], b, &sides->out, style, PRINT_TIME_START, fail))
        return false;
    sides->printers[1].start_ns = sides->printers[0].start_ns;
    return true;
}

void print_side(struct print_sides *sides, unsigned side, const struct cursor *cursor)
{
    print_event(&sides->printers[side], cursor);
    fwrite(sides->out.bytes, 1, sides->out.used - 1, sides->file);
    sides->out.used = 0;
}

void print_sides_close(struct print_sides *sides)
{
    printer_close(&sides->printers[0]);
    printer_close(&sides->printers[1]);
    out_close(&sides->out);
}
