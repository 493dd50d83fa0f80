/*
 * console.h - requests to the console (SLOT_CONSOLE). For conventions and spans see server.h.
 *
 * There is one console, so requests carry no handle; an inherited descriptor of it has handle 0.
 *
 * Output: the console sends a lone newline as carriage return and newline. Input: a carriage return arrives
 * as a newline in canonical mode and unchanged in raw mode.
 */
#pragma once

#include <servers/protocol/server.h>

enum {
    /* span -> bytes. The text of one request is not interleaved with that of another. */
    CONSOLE_WRITE = 0x300,
    /* span, CONSOLE_NO_WAIT or 0 -> bytes; 0 at end of file (Ctrl-D). Waits for a line in canonical mode, for
     * a byte in raw mode. With CONSOLE_NO_WAIT returns EAGAIN instead of waiting. */
    CONSOLE_READ,
    /* CONSOLE_* bits (~0: query only) -> the previous bits. The mode returns to CONSOLE_COOKED when the
     * process that set it ends. */
    CONSOLE_SET_MODE,
    /* span of uint32_t pids (may be empty): the foreground processes, which
     * Ctrl-C kills with all their descendants. The first process that makes
     * this request owns the foreground until it ends; others get EPERM. */
    CONSOLE_FOREGROUND,
};

#define CONSOLE_NO_WAIT 1u

/* Line editing: erase (Backspace), word erase (Ctrl-W), kill line (Ctrl-U), end of file (Ctrl-D). */
#define CONSOLE_CANONICAL 1u
#define CONSOLE_ECHO      2u /* typed characters are shown */
#define CONSOLE_SIGNALS   4u /* Ctrl-C kills the foreground processes */
#define CONSOLE_COOKED    (CONSOLE_CANONICAL | CONSOLE_ECHO | CONSOLE_SIGNALS)
#define CONSOLE_RAW       0u
