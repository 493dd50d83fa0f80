/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/index_file.h - keeps an index in a file, so that a trace is opened without a walk over it.
 *
 * The file is TRACE/.index.tarn, hidden, which CTF readers pass over; if it cannot be written there,
 * it lies in $XDG_CACHE_HOME/tarn (or ~/.cache/tarn) under a name made from the trace's path. It is written
 * whole under another name and renamed. It belongs to one build of the tool on one kind of machine, is
 * checked by a checksum, by bounds wherever it is read, and against the streams: their names, sizes, and the
 * packets at both ends. Whatever is wrong with it, it is made again.
 */
#ifndef TARN_INDEX_FILE_H
#define TARN_INDEX_FILE_H

#include <tools/tarn/view/index.h>

#define INDEX_FILE_NAME ".index.tarn"

enum index_state {
    INDEX_NONE,  /* none, or none that can be used */
    INDEX_WHOLE, /* of the trace as it is */
    INDEX_SHORT, /* the streams have grown since */
};

/* INDEX is empty before. FROM gets the time from which on there is more, if there is. */
enum index_state index_load(struct index *index, const struct trace *trace, uint64_t *from);
bool index_save(const struct index *index, const struct trace *trace, struct fail *fail);

/* The file's bytes, and back; for those two, and for tests. */
void index_write(const struct index *index, const struct trace *trace, struct buffer *out);
enum index_state index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size,
                            uint64_t *from);
/* Makes the checksum fit bytes that were changed; for tests. */
void index_forge(uint8_t *bytes, size_t size);

#endif
