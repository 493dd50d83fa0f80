/* print_value.h - print programs, and how values are printed; for print.c and print_value.c. */
#pragma once

#include <tools/tarn/buffer.h>
#include <tools/tarn/print/print.h>

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
char *put_list(char *at, const struct event *event, const struct field *field, enum print_style style);
/* Puts a number into JSON for other tools: in quotes if a double cannot represent it. */
char *put_safe_number(char *at, uint64_t value, bool is_signed);
/* A list of such numbers, or of labels. */
char *put_safe_list(char *at, const struct event *event, const struct field *field);
size_t value_capacity(const struct field *field, bool indexes); /* the maximum for one value */
/* A field of CSV, in quotes only if it needs them: at most twice the length, and 2 bytes. */
char *put_csv_text(char *at, const char *text, size_t length);
