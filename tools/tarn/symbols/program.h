/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/symbols/program.h - one program file: its build-id, its functions, its lines.
 *
 * For symbols.c. Files are untrusted like traces: libelf and libdw check what they read, and what they say is
 * copied.
 */
#ifndef TARN_PROGRAM_H
#define TARN_PROGRAM_H

#include <tools/tarn/symbols/symbols.h>

#define BUILD_ID_BYTES 16u /* that a trace has */

struct program_look {
    uint8_t build_id[BUILD_ID_BYTES];
    bool has_lines; /* debugging information */
};
/* What a file is, without opening it for good. False: no program with a build-id. */
bool program_look(const char *path, struct program_look *look);

struct program;
struct program *program_open(const char *path); /* NULL: it cannot be read */
void program_close(struct program *program);
/* The address at which the file wants its first byte to be: subtract it, and add where it was. */
uint64_t program_base(const struct program *program);
/* Where the return address is, of the function at ADDRESS, as the file's frame information has it. */
enum return_place {
    RETURN_UNKNOWN,     /* there is no information */
    RETURN_ON_TOP,      /* a call pushes it, and nothing lies on it */
    RETURN_BURIED,      /* a call pushes it, and something does */
    RETURN_IN_REGISTER, /* still, or it was */
};
enum return_place program_return_place(struct program *program, uint64_t address);
/* At an address as the file has them. Memory of the symbols comes from ARENA. */
struct symbol *program_find(struct program *program, uint64_t address, struct arena *arena);

#endif
