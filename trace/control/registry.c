/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace/control/registry.c - applications' schemas, and the metadata of the whole trace.
 *
 * The metadata is one text: the system's template, filled in when the clock's rate and the number of CPUs are
 * known, followed by each registered schema. Schemas are appended, so readers can fetch the text piece by
 * piece without a lock.
 *
 * A class belongs to the programs that have registered it. When all have ended, its events may still be in
 * the rings or in a trace that is being read, so it stays until the rings start over. Then its text is
 * removed, and its number is free. The geometry changes at the same time, so a reader of pieces knows whether
 * they belong together.
 *
 * Locking: trace_lock for everything except the published length.
 */
#include "trace/events.h" /* generated */
#include <arch/boot.h>
#include <arch/machine.h>
#include <arch/trace.h>
#include <kernel/cap.h>
#include <kernel/cpu.h>
#include <kernel/frame.h>
#include <kernel/kernel.h>
#include <kernel/space.h>
#include <kernel/syscall.h>
#include <kernel/thread.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/control/control.h>
#include <trace/control/schema_check.h>
#include <trace/event/app_schema.h>
#include <trace/event/schema.h>
#include <trace/format/metadata.h>
#include <trace/trace.h>

#define APPS_MAX       (TRACE_CLASS_COUNT - TRACE_CLASS_APP_FIRST)
/* 16 schemas of 16 KiB, with ids a few digits longer, and the system's */
#define METADATA_BYTES (512u << 10)
#define TEXT_ORDER     2 /* frames of 16 KiB for a schema while it is checked */
_Static_assert(TRACE_SCHEMA_TEXT_MAX == FRAME_SIZE << TEXT_ORDER, "fits exactly");

struct app_class {
    bool is_used;
    uint32_t holders; /* spaces */
    uint8_t uuid[16];
    uint64_t begin, length; /* of its text */
};

static struct {
    /* under trace_lock */
    char *metadata; /* constant after trace_metadata_init */
    struct app_class classes[APPS_MAX];
    uint32_t changes; /* how often a schema was removed from the text */
    /* release after the text is there; pairs with the acquire in sys_trace_metadata */
    uint64_t length;
} registry;
_Static_assert(APPS_MAX <= 8 * sizeof(((struct space *)0)->trace_classes), "a bit for each");

static uint64_t found_memory(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < boot_info.ram_count; i++)
        bytes += boot_info.ram[i].size;
    return bytes;
}

static struct trace_metadata_values system_values(uint32_t class_number)
{
    static const uint16_t one = 1;
    return (struct trace_metadata_values){
        .byte_order = *(const uint8_t *)&one ? "le" : "be",
        .hostname = "tarn",
        .architecture = ARCH_NAME,
        .cpu_count = trace_info_page.cpu_count,
        .clock_hz = trace_info_page.clock_hz,
        .clock_offset_ns = trace_info_page.clock_offset_ns,
        .clock_sources = trace_info_page.clock_sources,
        .clock_error_ppm = trace_info_page.clock_error_ppm,
        .clock_is_certain = trace_info_page.clock_is_certain,
        .command_line = boot_info.command_line,
        .memory_bytes = found_memory(),
        .class_number = class_number,
    };
}

static void set_length(uint64_t length)
{
    __atomic_store_n(&registry.length, length, __ATOMIC_RELEASE);
    trace_store_set_metadata(virt_to_phys(registry.metadata), length);
}

/* False: the text does not fit. */
static bool append_text(const char *text, uint64_t size, uint32_t class_number)
{
    struct trace_metadata_values values = system_values(class_number);
    uint64_t room = METADATA_BYTES - registry.length;
    uint64_t length = trace_metadata_expand(registry.metadata + registry.length, room, text, size, &values);
    if (length > room)
        return false;
    set_length(registry.length + length);
    return true;
}

void trace_metadata_init(void)
{
    spin_lock(&trace_lock);
    paddr_t frames = frame_alloc_run(METADATA_BYTES / FRAME_SIZE, trace_store_zone());
    if (frames == FRAME_NONE)
        panic("trace: no memory for the metadata");
    registry.metadata = phys_to_virt(frames);
    bool fits = append_text(trace_metadata_template, trace_metadata_template_size, 0);
    assert(fits);
    spin_unlock(&trace_lock);
}

static bool is_system_class(const char *name)
{
    for (unsigned i = 0; i < TRACE_CLASS_APP_FIRST; i++) {
        const char *other = trace_class_table[i].name;
        if (other && strlen(other) == strlen(name) && !memcmp(other, name, strlen(name)))
            return true;
    }
    return false;
}

/* The class with that hash, or else a free one. NULL: neither. */
static struct app_class *find_class(const uint8_t uuid[16])
{
    struct app_class *free = NULL;
    for (struct app_class *class = registry.classes; class < registry.classes + APPS_MAX; class ++) {
        if (class->is_used && !memcmp(class->uuid, uuid, 16))
            return class;
        if (!class->is_used && !free)
            free = class;
    }
    return free;
}

/* A comment in the metadata names the class, for `trace` (user/bin/trace_schema.c). */
static bool add_text(struct app_class *class, uint32_t number, const char *name, const char *body,
                     uint64_t size)
{
    char comment[64];
    uint64_t length = format_text(comment, sizeof(comment), "/* class %u is %s */\n", number, name);
    uint64_t begin = registry.length;
    if (!append_text(comment, length, number))
        return false;
    if (!append_text(body, size, number)) {
        set_length(begin);
        return false;
    }
    class->begin = begin;
    class->length = registry.length - begin;
    return true;
}

/* Returns a class number for a checked text; the same text, by its hash, has the same number. */
static int64_t add_schema(const char *name, const char *body, uint64_t size, const uint8_t uuid[16])
{
    struct space *space = current_thread()->space;
    struct app_class *class = find_class(uuid);
    if (!class)
        return -E_NO_SLOT;
    uint32_t index = (uint32_t)(class - registry.classes);
    if (!class->is_used && !add_text(class, TRACE_CLASS_APP_FIRST + index, name, body, size))
        return -E_TOO_LARGE;
    class->is_used = true;
    memcpy(class->uuid, uuid, 16);
    class->holders += !(space->trace_classes >> index & 1);
    space->trace_classes |= (uint16_t)(1u << index);
    return TRACE_CLASS_APP_FIRST + index;
}

void trace_leave_classes(struct space *space)
{
    spin_lock(&trace_lock);
    for (uint32_t i = 0; i < APPS_MAX; i++)
        registry.classes[i].holders -= space->trace_classes >> i & 1;
    space->trace_classes = 0;
    spin_unlock(&trace_lock);
}

/* Shortens the text first: a reader of memory sees that the moving part is no longer text. */
static void take_out(struct app_class *gone)
{
    uint64_t length = registry.length, behind = gone->begin + gone->length;
    set_length(gone->begin);
    memmove(registry.metadata + gone->begin, registry.metadata + behind, length - behind);
    for (struct app_class *class = registry.classes; class < registry.classes + APPS_MAX; class ++)
        if (class->is_used && class->begin > gone->begin)
            class->begin -= gone->length;
    set_length(length - gone->length);
    registry.changes++;
    *gone = (struct app_class){.is_used = false};
}

void trace_forget_classes(void)
{
    assert(spin_held(&trace_lock));
    for (struct app_class *class = registry.classes; class < registry.classes + APPS_MAX; class ++)
        if (class->is_used && class->holders == 0)
            take_out(class);
}

static uint64_t join_bytes(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value = value << 8 | bytes[i];
    return value;
}

static int64_t register_text(const char *text, uint64_t size, const uint8_t uuid[16])
{
    char name[TRACE_NAME_BYTES];
    uint64_t body;
    if (!trace_check_schema(text, size, name, &body) || is_system_class(name))
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    int64_t number = add_schema(name, text + body, size - body, uuid);
    spin_unlock(&trace_lock);
    if (number >= 0)
        trace_trace_schema((uint32_t)number, current_thread()->space->pid, join_bytes(uuid),
                           join_bytes(uuid + 8), name);
    return number;
}

int64_t sys_trace_register(const char *user_text, uint64_t size, const uint8_t *user_uuid)
{
    uint8_t uuid[16];
    if (!size || size > TRACE_SCHEMA_TEXT_MAX)
        return size ? -E_TOO_LARGE : -E_BAD_ARGUMENT;
    int64_t result = user_read(uuid, user_uuid, sizeof(uuid));
    if (result)
        return result;
    paddr_t frames = frame_alloc_order(TEXT_ORDER);
    if (frames == FRAME_NONE)
        return -E_NO_MEMORY;
    char *text = phys_to_virt(frames);
    result = user_read(text, user_text, size);
    if (!result)
        result = register_text(text, size, uuid);
    frame_free_order(frames, TEXT_ORDER);
    return result;
}

/* The schemas when this was last called; memory for their names and fields. */
#define LEARNED_BYTES (64u << 10)

const struct trace_app_schemas *trace_app_schemas(void)
{
    static struct trace_app_schemas schemas;
    static char memory[LEARNED_BYTES];
    static uint64_t learned; /* bytes of metadata */
    static uint32_t changes; /* registry.changes at that time */
    uint64_t length = __atomic_load_n(&registry.length, __ATOMIC_ACQUIRE);
    if (length != learned || registry.changes != changes)
        trace_learn_schemas(&schemas, registry.metadata, length, memory, sizeof(memory));
    learned = length;
    changes = registry.changes;
    return &schemas;
}

int64_t sys_trace_metadata(cap_t trace, uint64_t offset, void *user_buffer, uint64_t size)
{
    struct cap found;
    int64_t error = cap_look(current_thread()->space, trace, CAP_TRACE, RIGHT_READ, &found);
    if (error)
        return error;
    uint64_t length = __atomic_load_n(&registry.length, __ATOMIC_ACQUIRE);
    if (offset >= length)
        return 0;
    if (size > length - offset)
        size = length - offset;
    error = user_write(user_buffer, registry.metadata + offset, size);
    return error ? error : (int64_t)size;
}
