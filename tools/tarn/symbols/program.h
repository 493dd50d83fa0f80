/*
 * program.h - reads one executable: its build-id, functions and lines.
 *
 * Used by symbols.c. Files are untrusted, as traces are: libelf and libdw check what they read, and results
 * are copied.
 */
#pragma once

#include <tools/tarn/symbols/symbols.h>

#define BUILD_ID_BYTES 16u /* as many as a trace has */

struct program_look {
    uint8_t build_id[BUILD_ID_BYTES];
    bool has_lines; /* debugging information */
    bool has_names; /* a symbol table */
};
/* Reads a file's build-id without keeping it open. False: no program with a build-id. */
bool program_look(const char *path, struct program_look *look);

struct program;
struct program *program_open(const char *path); /* NULL: it cannot be read */
void program_close(struct program *program);
/* Where the return address of the function is at OFFSET, according to the file's frame information. An offset
 * is a run-time address without that where the executable was mapped. */
enum return_place {
    RETURN_UNKNOWN,     /* no information */
    RETURN_ON_TOP,      /* a call pushes it, and it is on top of the stack */
    RETURN_DEEPER,      /* a call pushes it, and other data is above it */
    RETURN_IN_REGISTER, /* in the link register, or was */
};
enum return_place program_return_place(struct program *program, uint64_t offset);
/* Returns the address of NAME in the file's own numbering; 0: there is none. */
uint64_t program_address(const struct program *program, const char *name);
/* Returns the symbol at OFFSET, allocated from ARENA. */
struct symbol *program_find(struct program *program, uint64_t offset, struct arena *arena);
