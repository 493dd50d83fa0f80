/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/print/print_value.h - print programs and how one value is printed; for print.c and
 * print_value.c. */
#ifndef TARN_PRINT_VALUE_H
#define TARN_PRINT_VALUE_H

#include <tools/tarn/print/print.h>

enum op_code {
    OP_END,      /* only the literal */
    OP_UNSIGNED, /* aligned integers: word, shifts */
    OP_SIGNED,
    OP_HEX,
    OP_ENUM,   /* the same, then the table of small values */
    OP_SLOW,   /* any other integer or enumeration */
    OP_STRING, /* text to a NUL */
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
    uint32_t word;    /* offset of the 64-bit word that holds the integer */
    uint32_t literal_length;
    const char *literal; /* printed before the value */
    const struct field *field;
    const struct print_text *small; /* of an enumeration: values below small_count, where text is not NULL */
    uint32_t small_count;
};

/* The bytes of the UTF-8 character at TEXT, or 0 when it is none. */
unsigned utf8_length(const unsigned char *text, size_t left);
char *put_number(char *at, uint64_t value, const struct field *field, enum print_style style);
char *put_enum(char *at, uint64_t value, const struct field *field, enum print_style style);
char *put_list(char *at, const struct event *event, const struct field *field, enum print_style style);
size_t value_room(const struct field *field, bool indexes); /* the most that one value can take */

#endif
