/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * index_file.h - saves an index in a file, so that a trace opens without a walk.
 *
 * The file is TRACE/.index.tarn, hidden, so that CTF readers ignore it. If it cannot be written there, it is
 * in $XDG_CACHE_HOME/tarn (or ~/.cache/tarn), under a name made from the trace's path. It is written under
 * another name and renamed. It is valid for one build of the tool on one architecture. It is validated by a
 * checksum, by bounds wherever it is read, and against the streams: their names, sizes, and the packets at
 * both ends. If anything is wrong, it is made again.
 */
#ifndef TARN_INDEX_FILE_H
#define TARN_INDEX_FILE_H

#include <tools/tarn/view/index.h>

#define INDEX_FILE_NAME ".index.tarn"

enum index_state {
    INDEX_NONE,  /* none, or unusable */
    INDEX_WHOLE, /* of the complete trace */
    INDEX_SHORT, /* the streams have grown since */
};

/* INDEX is empty before. FROM is set to the time from which on the trace has more, if it has. */
enum index_state index_load(struct index *index, const struct trace *trace, uint64_t *from);
bool index_save(const struct index *index, const struct trace *trace, struct fail *fail);

/* Convert to the file's bytes and back; for the functions above, and for tests. */
void index_write(const struct index *index, const struct trace *trace, struct buffer *out);
enum index_state index_read(struct index *index, const struct trace *trace, const uint8_t *bytes, size_t size,
                            uint64_t *from);
/* Updates the checksum of modified bytes; for tests. */
void index_forge(uint8_t *bytes, size_t size);

#endif
