/*
 * symbols.h - stage "symbols": addresses to functions, files and lines.
 *
 * A trace has the address and build-id of each mapped executable (model/executables.h). The file with that
 * build-id is searched in directories and their subdirectories; one with debugging information is preferred.
 * A file with the same name and another build-id has been rebuilt since, and is refused. Executables are
 * those of the guest, in either byte order.
 *
 * Files are opened on demand, and results are cached. Records live until symbols_close. There are no locks:
 * a struct symbols belongs to one thread.
 */
#pragma once

#include <tools/tarn/model/executables.h>

/* The code at an address. For inlined code this is a list, innermost first: each is inlined into `outer`,
 * whose line is that of the call. */
struct symbol {
    const char *function; /* NULL: unknown */
    const char *file;     /* source file; NULL: unknown */
    unsigned line;        /* 0: unknown */
    bool is_inlined;      /* into `outer` */
    const struct symbol *outer;
    /* bytes from the start of the outermost function; of the executable if there is no function */
    uint64_t offset;
    const struct executable *executable; /* NULL: the address is in none */
};

static inline const struct symbol *symbol_outermost(const struct symbol *symbol)
{
    while (symbol->outer != NULL)
        symbol = symbol->outer;
    return symbol;
}

struct symbols;

/* PATH is a colon-separated list of directories to search before the default ones: "symbols" in the trace's
 * DIRECTORY, the build's output for each architecture, /usr/lib/debug. NULL: only those. */
struct symbols *symbols_open(const char *directory, const char *path);
void symbols_close(struct symbols *symbols);
/* Returns the symbol at an address of EXECUTABLE, which may be NULL; never NULL. For a return address, pass
 * the address minus one, which is in the call. */
const struct symbol *symbols_find(struct symbols *symbols, const struct executable *executable,
                                  uint64_t address);
/* Whether CALLER is the return address of the function at ADDRESS of EXECUTABLE. It was found where that is
 * before the function has made a frame, in the link register or on top of the stack, while the program was
 * at ADDRESS or in its system call. CALLER_EXECUTABLE contains CALLER. */
bool symbols_is_caller(struct symbols *symbols, const struct executable *executable, uint64_t address,
                       const struct executable *caller_executable, uint64_t caller);
/* Returns the file that was found for an executable; NULL: none. */
const char *symbols_file(struct symbols *symbols, const struct executable *executable);
/* Returns a sentence on missing files, one per number; NULL after the last. */
const char *symbols_complaint(const struct symbols *symbols, unsigned number);

#define SYMBOL_NAME_BYTES 256u
/* Returns the function's name, "sh+0x123", or the address. The result points into TEXT or the symbol. */
const char *symbol_name(const struct symbol *symbol, uint64_t address, char text[SYMBOL_NAME_BYTES]);
/* Returns an executable's file name without directories, "kernel", or "(no executable)" for NULL. */
const char *executable_name(const struct executable *executable);
