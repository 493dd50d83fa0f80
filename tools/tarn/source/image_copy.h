/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image_copy.h - works on a copy of a packet from guest memory, in guest byte order. For image_ring.c.
 */
#ifndef TARN_IMAGE_COPY_H
#define TARN_IMAGE_COPY_H

#include <tools/tarn/source/image.h>

/* In host byte order. */
struct trace_packet image_copy_header(const struct image *image, const uint8_t *copy);
void image_copy_put_header(const struct image *image, uint8_t *copy, struct trace_packet header);
bool image_copy_content_is_sound(const struct trace_packet *packet);
/* Returns the first word up to LIMIT that is not part of an event; LIMIT: none. */
uint64_t image_copy_find_hole(const struct image *image, const uint8_t *copy, uint64_t limit);
/* Walks a copy of SIZE words with a valid header, up to LIMIT, and ends its content
 * before the first hole. No event is later than END (~0: unknown). ALL_THERE: nothing
 * is missing up to LIMIT. Like cut_content in trace/ring/read.c, except that holes
 * are recognized without the count. False: not even the first event is complete. */
bool image_copy_cut(const struct image *image, uint8_t *copy, uint64_t limit, uint64_t size, uint64_t end,
                    bool all_there);

#endif
