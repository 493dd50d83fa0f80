/*
 * keys.h - decodes keys of a VT100-like terminal, for line editors in the kernel debugger and in programs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tarn_key {
    KEY_INTERRUPT = 3,     /* Ctrl-C */
    KEY_DELETE_OR_END = 4, /* Ctrl-D */
    KEY_TAB = 9,
    KEY_NEWLINE = 10,
    KEY_CUT_END = 11, /* Ctrl-K */
    KEY_CLEAR = 12,   /* Ctrl-L */
    KEY_RETURN = 13,
    KEY_CUT = 21,        /* Ctrl-U */
    KEY_WORD_ERASE = 23, /* Ctrl-W */
    KEY_UP = 256,        /* also Ctrl-P */
    KEY_DOWN,            /* Ctrl-N */
    KEY_LEFT,            /* Ctrl-B */
    KEY_RIGHT,           /* Ctrl-F */
    KEY_HOME,            /* Ctrl-A */
    KEY_END,             /* Ctrl-E */
    KEY_BACKSPACE,       /* Ctrl-H, DEL */
    KEY_DELETE,
    KEY_NONE,    /* unknown sequence */
    KEY_PENDING, /* the sequence is not complete */
};

struct key_decoder {
    enum { KEY_PLAIN, KEY_BEHIND_ESCAPE, KEY_IN_SEQUENCE } state;
    uint32_t number; /* first number of the sequence */
    bool is_first_over;
};

static inline int key_of_control(int byte)
{
    switch (byte) {
    case 1:
        return KEY_HOME;
    case 2:
        return KEY_LEFT;
    case 5:
        return KEY_END;
    case 6:
        return KEY_RIGHT;
    case 8:
    case 127:
        return KEY_BACKSPACE;
    case 14:
        return KEY_DOWN;
    case 16:
        return KEY_UP;
    default:
        return byte;
    }
}

/* Returns the key for the byte that ends a sequence. */
static inline int key_of_sequence(int byte, uint32_t number)
{
    switch (byte) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    case '~':
        return number == 1 || number == 7   ? KEY_HOME
               : number == 4 || number == 8 ? KEY_END
               : number == 3                ? KEY_DELETE
                                            : KEY_NONE;
    default:
        return KEY_NONE;
    }
}

/* Returns the key (enum tarn_key, or the byte itself) that ends with this byte, or a negative `byte` (end
 * of input). ESC [ and ESC O begin a sequence: numbers separated by semicolons, then the final byte. */
static inline int key_decode(struct key_decoder *decoder, int byte)
{
    if (byte < 0)
        return byte;
    switch (decoder->state) {
    case KEY_BEHIND_ESCAPE:
        decoder->state = byte == '[' || byte == 'O' ? KEY_IN_SEQUENCE : KEY_PLAIN;
        decoder->number = 0;
        decoder->is_first_over = false;
        return decoder->state == KEY_PLAIN ? KEY_NONE : KEY_PENDING;
    case KEY_IN_SEQUENCE:
        if (byte == ';') {
            decoder->is_first_over = true;
            return KEY_PENDING;
        }
        if (byte >= '0' && byte <= '9') {
            if (!decoder->is_first_over)
                decoder->number = decoder->number * 10 + (uint32_t)(byte - '0');
            return KEY_PENDING;
        }
        decoder->state = KEY_PLAIN;
        return key_of_sequence(byte, decoder->number);
    default:
        if (byte != 27)
            return key_of_control(byte);
        decoder->state = KEY_BEHIND_ESCAPE;
        return KEY_PENDING;
    }
}
