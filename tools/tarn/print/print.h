/*
 * print.h - events to text, JSON lines, CSV, and babeltrace2's text.
 *
 * For each event type and style, a small program is compiled once: literal text, then a field, and so on.
 * Printing an event runs it, without look-ups or allocation. A program writes at most `capacity` bytes, so
 * one reservation covers a line.
 */
#pragma once

#include <stdio.h>
#include <tools/tarn/buffer.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/decode.h>

enum print_style { PRINT_TEXT, PRINT_JSON, PRINT_CSV, PRINT_BABELTRACE };
enum print_time { PRINT_TIME_START, PRINT_TIME_CLOCK, PRINT_TIME_CYCLES };

enum op_code {
    OP_END,      /* only the literal */
    OP_UNSIGNED, /* aligned integers, loaded with word and shifts */
    OP_SIGNED,
    OP_HEX,
    OP_ENUM,   /* likewise, printed by the table of small values */
    OP_SLOW,   /* any other integer or enumeration */
    OP_STRING, /* NUL-terminated text */
    OP_LIST,   /* arrays and sequences */
};

struct print_text {
    const char *text;
    uint32_t length;
};

struct print_op {
    uint8_t code;
    bool swap;
    uint8_t up, down; /* value = word << up >> down */
    uint32_t word;    /* offset of the 64-bit word with the integer */
    uint32_t literal_length;
    const char *literal; /* printed before the value */
    const struct field *field;
    /* labels of an enumeration for values below small_count, if text is not NULL */
    const struct print_text *small;
    uint32_t small_count;
};

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

/* The caller closes it in either case. */
bool printer_open(struct printer *printer, const struct trace *trace, struct out *out, enum print_style style,
                  enum print_time time, struct fail *fail);
void print_heading(struct printer *printer); /* the first line of CSV */
void print_event(struct printer *printer, const struct cursor *cursor);
void printer_close(struct printer *printer);

/* Writes TEXT in quotes, escaping control characters and
 * quotes as STYLE requires; at most 6 bytes per character. */
char *put_escaped(char *at, const char *text, size_t length, enum print_style style);

/* Numbers for people. */
struct unit {
    const char *suffix; /* in a heading: " ms" */
    double of_one;      /* what is divided */
};
/* For times of up to LARGEST nanoseconds, and for counts: four digits or fewer stand before the point. */
struct unit unit_of_time(uint64_t largest);
struct unit unit_of_count(uint64_t largest);
/* Three significant digits, of which at most three stand behind the point. 0 is exactly nothing. */
#define NUMBER_BYTES 32u
void format_digits(double value, char text[NUMBER_BYTES]);

/* Returns the length of the UTF-8 character at TEXT, or 0 if it is invalid. */
unsigned utf8_length(const unsigned char *text, size_t left);
/* Adds a text as UTF-8: any byte that is none becomes U+FFFD. */
void buffer_utf8(struct buffer *to, const char *text, size_t length);
char *put_number(char *at, uint64_t value, const struct field *field, enum print_style style);
char *put_enum(char *at, uint64_t value, const struct field *field, enum print_style style);
/* Puts a number into JSON for other tools: in quotes if a double cannot represent it. */
char *put_safe_number(char *at, uint64_t value, bool is_signed);
/* A list of numbers, or of labels. IS_SAFE: numbers by put_safe_number. */
char *put_list(char *at, const struct event *event, const struct field *field, enum print_style style,
               bool is_safe);
size_t value_capacity(const struct field *field, bool indexes); /* the maximum for one value */
/* A field of CSV, in quotes only if it needs them: at most twice the length, and 2 bytes. */
char *put_csv_text(char *at, const char *text, size_t length);
