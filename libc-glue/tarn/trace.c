/*
 * trace.c - reports the program's executable to the trace. Programs with events of their own register them
 * with trace_register_schema (trace/event/schema.h).
 */
#include "internal.h"

#include <string.h>

#define BUILD_ID_BYTES 20

extern const char __executable_start[], __executable_end[], __build_id_note[], __build_id_note_end[];

/* The note that the linker makes. */
struct build_id_note {
    uint32_t name_size, id_size, type;
    char name[4];
    uint8_t id[];
};

/* Exactly BUILD_ID_BYTES, zero-filled, because the kernel reads that many. */
static void copy_build_id(uint8_t id[BUILD_ID_BYTES])
{
    const struct build_id_note *note = (const void *)__build_id_note;
    memset(id, 0, BUILD_ID_BYTES);
    if (__build_id_note_end - __build_id_note < (ptrdiff_t)sizeof(*note) ||
        note->name_size != sizeof(note->name))
        return;
    memcpy(id, note->id, note->id_size < BUILD_ID_BYTES ? note->id_size : BUILD_ID_BYTES);
}

/* Fails in a kernel without a trace; the program runs nevertheless. */
void report_executable(const char *path)
{
    uint8_t id[BUILD_ID_BYTES];
    copy_build_id(id);
    sys_trace_image(path ? path : "", (uint64_t)__executable_start,
                    (uint64_t)(__executable_end - __executable_start), id);
}
