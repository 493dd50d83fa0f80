/* line_edit.h - a line of UTF-8 text with a cursor, and what the editing keys do to it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct line_edit {
    char *text;
    size_t capacity, size, cursor; /* in bytes; the cursor is between characters */
};

/* Inserts text before the cursor, unless it would fill the line: a byte stays free for a NUL. */
void line_insert(struct line_edit *line, const char *text, size_t size);
void line_set(struct line_edit *line, const char *text);
/* Applies a key of keys.h that moves the cursor or deletes. Returns false if the key does neither. */
bool line_key(struct line_edit *line, int key);
