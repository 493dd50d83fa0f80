/* line_edit.c - edits a line of text. Interface: line_edit.h. */
#include "line_edit.h"
#include "keys.h"
#include "utf8.h"

void line_insert(struct line_edit *line, const char *text, size_t size)
{
    if (line->size + size >= line->capacity)
        return;
    __builtin_memmove(line->text + line->cursor + size, line->text + line->cursor, line->size - line->cursor);
    __builtin_memcpy(line->text + line->cursor, text, size);
    line->size += size;
    line->cursor += size;
}

void line_set(struct line_edit *line, const char *text)
{
    line->size = line->cursor = 0;
    line_insert(line, text, __builtin_strlen(text));
}

static void erase(struct line_edit *line, size_t from, size_t to)
{
    __builtin_memmove(line->text + from, line->text + to, line->size - to);
    line->size -= to - from;
    line->cursor = from;
}

static size_t word_start(const struct line_edit *line)
{
    size_t at = line->cursor;
    while (at && line->text[at - 1] == ' ')
        at--;
    while (at && line->text[at - 1] != ' ')
        at--;
    return at;
}

bool line_key(struct line_edit *line, int key)
{
    size_t previous = utf8_previous(line->text, line->cursor);
    size_t next = utf8_next(line->text, line->size, line->cursor);
    switch (key) {
    case KEY_HOME:
        line->cursor = 0;
        return true;
    case KEY_END:
        line->cursor = line->size;
        return true;
    case KEY_LEFT:
        line->cursor = previous;
        return true;
    case KEY_RIGHT:
        line->cursor = next;
        return true;
    case KEY_BACKSPACE:
        erase(line, previous, line->cursor);
        return true;
    case KEY_DELETE:
    case KEY_DELETE_OR_END:
        erase(line, line->cursor, next);
        return true;
    case KEY_CUT:
        erase(line, 0, line->cursor);
        return true;
    case KEY_CUT_END:
        erase(line, line->cursor, line->size);
        return true;
    case KEY_WORD_ERASE:
        erase(line, word_start(line), line->cursor);
        return true;
    default:
        return false;
    }
}
