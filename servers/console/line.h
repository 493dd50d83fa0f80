/*
 * line.h - the line discipline of the terminal.
 *
 * Typed characters go in by line_input. line_read returns edited lines (canonical mode) or single bytes (raw
 * mode). Independent of processes and devices. Locking: by the caller.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LINE_BYTES 1024u /* longest line */
#define LINE_READY 4096u /* unread bytes kept for readers */
#define LINE_LINES 128u

struct line {
    uint32_t mode; /* CONSOLE_* of servers/protocol/console.h */
    void (*echo)(const char *text, uint32_t size);
    uint32_t lost; /* bytes dropped because nobody read them in time */

    char edit[LINE_BYTES]; /* the line being edited */
    uint32_t edit_count;

    char ready[LINE_READY]; /* ring of unread bytes */
    uint32_t ready_head, ready_count;
    uint16_t lines[LINE_LINES]; /* ring: lengths of the lines in `ready`; 0 = end of file */
    uint32_t line_head, line_count;
};

enum line_event { LINE_NOTHING, LINE_READABLE, LINE_INTERRUPT };

void line_init(struct line *line, void (*echo)(const char *text, uint32_t size));
enum line_event line_input(struct line *line, char key);
bool line_is_readable(const struct line *line);
/* Reads bytes of one line, in raw mode as many as fit.
 * Returns 0 at end of file. The line must be readable. */
uint32_t line_read(struct line *line, char *buffer, uint32_t size);
void line_set_mode(struct line *line, uint32_t mode);
