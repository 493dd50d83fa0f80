/*
 * fs.h - requests to the file system (SLOT_FS). For conventions and spans see server.h.
 *
 * Paths are absolute: libc-glue prepends the working directory. The span of a path does not include a NUL.
 * The server resolves "." and "..". Open files, pipes and directories are named by handles, small numbers
 * valid for one client. SERVER_INHERIT makes handles that share one offset, as in POSIX. O_*, S_*, SEEK_* and
 * errno values are newlib's.
 */
#pragma once

#include <servers/protocol/server.h>

#define FS_PATH_MAX    1024u
#define FS_NAME_MAX    255u
#define FS_PIPE_BYTES  65536u  /* capacity of a pipe */
#define FS_PIPE_ATOMIC 4096u   /* PIPE_BUF: writes up to this size are atomic */
#define FS_HERE        (~0ull) /* as an offset: use the file position and advance it */

/* Attributes of a file in a reply: word[0] = file number, word[1] = size, word[2] = S_* mode | links << 32,
 * word[3] = time of the last change of its contents, in nanoseconds since boot. */

enum {
    FS_OPEN = 0x200, /* path span, O_* flags, mode -> handle; words: attributes */
    FS_CLOSE,        /* handle */
    FS_READ,         /* handle, span, offset or FS_HERE -> bytes, 0 at end of file. Blocks on an empty pipe */
    FS_WRITE,        /* handle, span, offset or FS_HERE -> bytes. Blocks on a full pipe */
    FS_SEEK,         /* handle, offset (signed), SEEK_* -> new position */
    FS_STAT,         /* path span -> attributes */
    FS_FSTAT,        /* handle -> attributes */
    FS_READDIR,      /* handle, span -> bytes of struct fs_dirent, 0 at the end. FS_SEEK to 0 rewinds */
    FS_MKDIR,        /* path span, mode */
    FS_RMDIR,        /* path span */
    FS_UNLINK,       /* path span */
    FS_RENAME,       /* old path span, new path span */
    FS_LINK,         /* old path span, new path span */
    FS_TRUNCATE,     /* path span, size */
    FS_FTRUNCATE,    /* handle, size */
    FS_REALPATH,     /* path span, output span, FS_REALPATH_* -> length of the path without "." and ".." */
    FS_PIPE,         /* O_NONBLOCK or 0 -> 0; word[0] = read handle, word[1] = write handle */
    FS_SET_FLAGS,    /* handle, O_APPEND | O_NONBLOCK */
    FS_MAP,          /* handle, FS_MAP_* -> cap[0] = memory object with the contents; word[0] = size */
    /* path span -> cap[0] = memory object to read and execute; word[0] = size, [1] = file, [2] = version,
     * [3] = label: what programs that run it may do (authority.def); 0 for all but unchanged files of the
     * boot archive */
    FS_EXECUTABLE,
    FS_SET_TIME, /* path span, nanoseconds since boot (~0: now) */
    /* -> word[0] = bytes in files, word[1] = files, word[2] = directories, word[3] = open handles */
    FS_STATFS,
};

/* FS_MAP without FS_MAP_SHARED gives a snapshot, which later writes to the file do not change (MAP_PRIVATE
 * and program loading use it). With FS_MAP_SHARED, writes to the memory are writes to the file. */
#define FS_MAP_SHARED 1u

#define FS_REALPATH_DIRECTORY 1u /* fail with ENOTDIR if the path is no directory */

/* A directory entry. The name follows, with its NUL. The next entry begins `length` bytes after this one. */
struct fs_dirent {
    uint64_t file;
    uint64_t position; /* opaque */
    uint16_t length;   /* of the whole entry; a multiple of 8 */
    uint8_t type;      /* S_IFMT bits >> 12 */
    uint8_t name_length;
    char name[4];
};
