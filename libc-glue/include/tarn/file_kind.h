/*
 * tarn/file_kind.h - `kind` of struct startup_fd: the protocol of an inherited open file.
 *
 * Set by init and proc when they start a program; also used in the library's descriptor table.
 */
#pragma once

enum file_kind {
    FILE_NONE = 0,
    FILE_CONSOLE = 1, /* servers/protocol/console.h; handle 0 */
    FILE_FS = 2,      /* servers/protocol/fs.h: file or directory */
    FILE_PIPE = 3,    /* of the same server: an end of a pipe */
    FILE_SOCKET = 4,  /* servers/protocol/net.h */
    FILE_DEBUG = 5,   /* no server: writes go to the kernel log, reads return end of file */
    FILE_NULL = 6,    /* /dev/null */
};
