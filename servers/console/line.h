/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/console/line.h - the line discipline: what becomes of a key.
 *
 * Keys go in with line_input; edited lines (canonical mode) or plain bytes (raw mode) come out with
 * line_read. Knows nothing of processes and devices. Locking: the caller's.
 */
#ifndef SERVERS_CONSOLE_LINE_H
#define SERVERS_CONSOLE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_BYTES 1024u /* longest line */
#define LINE_READY 4096u /* bytes that may wait for readers */
#define LINE_LINES 128u

struct line {
    uint32_t mode; /* CONSOLE_* of servers/protocol/console.h */
    void (*echo)(const char *text, uint32_t size);
    uint32_t lost; /* bytes that nobody read in time */

    char edit[LINE_BYTES]; /* the line being typed */
    uint32_t edit_count;

    char ready[LINE_READY]; /* ring */
    uint32_t ready_head, ready_count;
    uint16_t lines[LINE_LINES]; /* ring: lengths of what is ready; 0 = end of file */
    uint32_t line_head, line_count;
};

enum line_event { LINE_NOTHING, LINE_READABLE, LINE_INTERRUPT };

void line_init(struct line *line, void (*echo)(const char *text, uint32_t size));
enum line_event line_input(struct line *line, char key);
bool line_is_readable(const struct line *line);
/* Takes bytes of one line, or in raw mode all that fit; 0 at an end of file. Only if it is readable. */
uint32_t line_read(struct line *line, char *buffer, uint32_t size);
void line_set_mode(struct line *line, uint32_t mode);

#endif
