/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tarn/file_kind.h - `kind` of struct startup_fd: which protocol an inherited open file speaks.
 *
 * Whoever starts a program (init, proc) fills these in; the library's table of open files knows them too.
 */
#ifndef TARN_FILE_KIND_H
#define TARN_FILE_KIND_H

enum file_kind {
    FILE_NONE = 0,
    FILE_CONSOLE = 1, /* servers/protocol/console.h; handle 0 */
    FILE_FS = 2,      /* servers/protocol/fs.h: file or directory */
    FILE_PIPE = 3,    /* the same server: an end of a pipe */
    FILE_SOCKET = 4,  /* servers/protocol/net.h */
    FILE_DEBUG = 5,   /* no server: the kernel's log through debug_write; reads are at their end */
    FILE_NULL = 6,    /* /dev/null */
};

#endif
