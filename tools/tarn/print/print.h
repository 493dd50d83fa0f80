/*
 * print.h - events to text, JSON lines, CSV, and babeltrace2's text.
 *
 * For each event type and style, a small program is compiled once: literal text, then a field, and so on.
 * Printing an event runs it, without look-ups or allocation. A program writes at most `capacity` bytes, so
 * one reservation covers a line.
 */
#pragma once

#include <stdio.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/decode.h>

enum print_style { PRINT_TEXT, PRINT_JSON, PRINT_CSV, PRINT_BABELTRACE };
enum print_time { PRINT_TIME_START, PRINT_TIME_CLOCK, PRINT_TIME_CYCLES };

struct print_program {
    struct print_op *ops;
    unsigned count;
    size_t capacity;
};

/* The running thread of a CPU, as it stands in each line until it changes. */
struct print_thread {
    struct running running;
    uint32_t cpu;
    uint32_t length; /* 0: not formatted yet */
    char text[64];
};

struct printer {
    const struct trace *trace;
    struct out *out;
    enum print_style style;
    enum print_time time;
    int64_t start_ns;
    struct print_program *programs; /* by event index */
    struct print_program context;   /* packet context, for babeltrace2's text */
    const char *trace_prefix;       /* the part of the environment that babeltrace2 prints */
    size_t trace_prefix_length;
    size_t capacity_max;
    struct arena arena;
    /* the packet context, formatted once per packet */
    char *context_text;
    size_t context_length;
    const struct stream *context_stream;
    uint64_t context_offset;
    /* the seconds, formatted once per second */
    int64_t second;
    char second_text[PUT_NUMBER_MAX];
    unsigned second_length;
    struct print_thread *threads; /* by rank of the stream */
};

bool printer_open(struct printer *printer, const struct trace *trace, struct out *out, enum print_style style,
                  enum print_time time, struct fail *fail);
void print_heading(struct printer *printer); /* the first line of CSV */
void print_event(struct printer *printer, const struct cursor *cursor);
void printer_close(struct printer *printer);

/* Writes TEXT in quotes, escaping control characters and
 * quotes as STYLE requires; at most 6 bytes per character. */
char *put_escaped(char *at, const char *text, size_t length, enum print_style style);
