/* SPDX-License-Identifier: BSD-2-Clause */
/* content_end.h - writes the end of a packet's content, in either byte order. */
#ifndef TARN_CONTENT_END_H
#define TARN_CONTENT_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTENT_END_BYTES 16u

/* Writes the end event and, if REST words of the buffer are left, the header of a filler after it. Returns
 * the number of bytes written. */
size_t put_content_end(uint8_t *at, bool is_little, uint64_t rest, uint64_t time);

#endif
