/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/symbols/symbols.h - stage "symbols": addresses to functions, files and lines.
 *
 * A trace says of each program file where it lay and what its build-id is (model/images.h). The file with
 * that build-id is looked for in directories, and in those that lie in them; where one has debugging
 * information it is preferred. A file of the same name and another build-id is refused: it was built again
 * since. Programs are those of the guest, of either byte order, whatever the host is.
 *
 * Nothing is opened before it is asked for; what was found of an address is remembered. Records live until
 * symbols_close. No locks: a struct symbols belongs to one thread.
 */
#ifndef TARN_SYMBOLS_H
#define TARN_SYMBOLS_H

#include <tools/tarn/model/images.h>

/* What is at an address. Of code that the compiler inlined there are several, from the innermost: each lies
 * in `outer`, whose line is that of the call. */
struct symbol {
    const char *function; /* NULL: not known */
    const char *file;     /* source; NULL: not known */
    unsigned line;        /* 0: not known */
    bool is_inlined;      /* into outer */
    const struct symbol *outer;
    uint64_t offset;           /* bytes from the function's begin, of the outermost; from the image's, where
                                * there is no function */
    const struct image *image; /* NULL: the address is in none */
};

struct symbols;

/* PATH: directories with colons between them, before those that are always looked at: "symbols" in the
 * trace's DIRECTORY, what the build made for each machine, /usr/lib/debug. NULL: only these. */
struct symbols *symbols_open(const char *directory, const char *path);
void symbols_close(struct symbols *symbols);
/* At an address of IMAGE, or NULL. Of a return address pass the one before: the call's. Never NULL. */
const struct symbol *symbols_find(struct symbols *symbols, const struct image *image, uint64_t address);
/* CALLER was found where a function's return address is before it has made a frame: in the link register or
 * on top of the stack, when the program was at ADDRESS of IMAGE, or in its system call. Is it the return
 * address? CALLER_IMAGE: where it is. */
bool symbols_is_caller(struct symbols *symbols, const struct image *image, uint64_t address,
                       const struct image *caller_image, uint64_t caller);
/* The file that was found for an image; NULL: none. */
const char *symbols_file(struct symbols *symbols, const struct image *image);
/* What could not be found, a sentence each; NULL after the last. For who prints. */
const char *symbols_complaint(const struct symbols *symbols, unsigned number);

#define SYMBOL_NAME_BYTES 256u
/* For people: the function's name, or "image+0x123", or the address. Points into TEXT or the symbol. */
const char *symbol_name(const struct symbol *symbol, uint64_t address, char text[SYMBOL_NAME_BYTES]);
/* An image's file name without folders; "kernel" for the kernel's, "(no image)" for NULL. */
const char *image_name(const struct image *image);

#endif
