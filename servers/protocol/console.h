/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/console.h - requests to the console (SLOT_CONSOLE). Conventions, spans, windows: server.h.
 *
 * There is one console and it needs no handle: an inherited file of it has handle 0.
 */
#ifndef SERVERS_PROTOCOL_CONSOLE_H
#define SERVERS_PROTOCOL_CONSOLE_H

#include <servers/protocol/server.h>

enum {
    CONSOLE_WRITE = 0x300, /* span -> bytes; one request's text is not mixed with another's */
    CONSOLE_READ,     /* span, CONSOLE_NO_WAIT or 0 -> bytes, 0 at the end of file (Ctrl-D). In canonical mode
                       * it waits for a line, in raw mode for a byte; EAGAIN if it must not wait */
    CONSOLE_SET_MODE, /* CONSOLE_* bits (~0: only ask) -> the bits before. Back to CONSOLE_COOKED when
                       * the process that set it ends */
    CONSOLE_FOREGROUND, /* span of uint32_t pids (empty: none): whom Ctrl-C kills, with their descendants. The
                         * first process that sets it owns it till it ends; EPERM for others */
};

#define CONSOLE_NO_WAIT 1u

#define CONSOLE_CANONICAL                                                                                \
    1u                     /* lines: erase (Backspace), word erase (Ctrl-W), kill (Ctrl-U), end (Ctrl-D) \
                            */
#define CONSOLE_ECHO    2u /* what is typed is shown */
#define CONSOLE_SIGNALS 4u /* Ctrl-C kills the foreground */
#define CONSOLE_COOKED  (CONSOLE_CANONICAL | CONSOLE_ECHO | CONSOLE_SIGNALS)
#define CONSOLE_RAW     0u
/* Output: a lone newline is sent as carriage return and newline. Input: carriage return arrives as newline in
 * canonical mode, unchanged in raw mode. */

#endif
