/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - the files of the page, which the build embeds in the program (embed.c). */
#ifndef TARN_PAGE_H
#define TARN_PAGE_H

#include <stddef.h>

struct page_file {
    const char *name; /* index.html */
    const unsigned char *bytes;
    size_t size;
};
extern const struct page_file page_files[]; /* ends with a NULL name */

#endif
