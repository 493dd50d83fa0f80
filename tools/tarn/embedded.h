/* embedded.h - files that the build embeds in the program (tools/tarn/build.mk): the page, and the prose of
 * the manual. */
#pragma once

#include <stddef.h>

struct page_file {
    const char *name;           /* index.html */
    const unsigned char *bytes; /* a NUL follows */
    size_t size;
};
extern const struct page_file page_files[], manual_files[], study_files[],
    sql_files[]; /* end with a NULL name */
