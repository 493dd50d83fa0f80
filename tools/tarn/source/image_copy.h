/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/image_copy.h - a packet that was copied out of a guest's memory, in its byte order: the
 * header, the events as far as they are there, and how its content ends. For image_ring.c.
 */
#ifndef TARN_IMAGE_COPY_H
#define TARN_IMAGE_COPY_H

#include <tools/tarn/source/image.h>

/* In our byte order. */
struct trace_packet image_copy_header(const struct image *image, const uint8_t *copy);
void image_copy_put_header(const struct image *image, uint8_t *copy, struct trace_packet header);
bool image_copy_content_is_sound(const struct trace_packet *packet);
/* The first word up to LIMIT in which no event is; LIMIT: there is none. */
uint64_t image_copy_find_hole(const struct image *image, const uint8_t *copy, uint64_t limit);
/* Walks a copy of SIZE words, whose header is sound, up to LIMIT, and ends its content before the first hole;
 * no event is later than END (~0: unknown). ALL_THERE: nothing is missing up to the limit. As cut_content in
 * trace/ring/read.c, but that a hole is known to be one when the count is not. False: not even the first
 * event is there. */
bool image_copy_cut(const struct image *image, uint8_t *copy, uint64_t limit, uint64_t size, uint64_t end,
                    bool all_there);

#endif
