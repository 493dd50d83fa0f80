/*
 * kernel/trace/registry.c - applications' schemas, and the metadata of the whole trace.
 *
 * The metadata is one text: the system's template, filled in when the clock's rate and the number of CPUs are
 * known, followed by the TSDL that is made of each registered descriptor. The descriptors are kept beside it,
 * for readers in this system and the next one. Both are appended to, so readers can fetch them piece by piece
 * without a lock.
 *
 * A class belongs to the programs that have registered it. When all have ended, its events may still be in
 * the rings or in a trace that is being read, so it stays until the rings start over. Then its text and
 * descriptor are removed, and its number is free. The geometry changes at the same time, so a reader of
 * pieces knows whether they belong together.
 *
 * Locking: trace_lock for everything except the published lengths.
 */
#include "trace/events.h" /* generated */
#include <arch/boot.h>
#include <arch/machine.h>
#include <kernel/cpu/cpu.h>
#include <kernel/ipc/user_copy.h>
#include <kernel/kernel.h>
#include <kernel/memory/frame.h>
#include <kernel/sched/thread.h>
#include <kernel/space/space.h>
#include <kernel/trace/control.h>
#include <tarn/error.h>
#include <tarn/syscall_kernel.h>
#include <trace/event/schema.h>
#include <trace/format/metadata.h>
#include <trace/format/store.h>
#include <trace/print/app_schema.h>
#include <trace/print/words.h>
#include <trace/trace.h>

#define APPS_MAX         TRACE_APP_CLASSES
#define METADATA_BYTES   (512u << 10) /* the system's TSDL, and some 29 KiB of it for each class */
#define TABLES_BYTES     (128u << 10) /* for the debugger: made of descriptors */
#define DESCRIPTOR_ORDER 2            /* frames for a descriptor while it is checked */
_Static_assert(TRACE_DESCRIPTOR_BYTES_MAX == FRAME_SIZE << DESCRIPTOR_ORDER, "fits exactly");

struct part {
    char *bytes; /* constant after trace_metadata_init */
    uint64_t size;
    /* release after the bytes are there; pairs with the acquire in sys_trace_metadata */
    uint64_t length;
};

struct piece {
    uint64_t begin, length; /* in a part */
};

struct app_class {
    bool is_used;
    uint8_t uuid[16];
    struct piece piece[TRACE_METADATA_PARTS]; /* its own */
};

static struct {
    /* under trace_lock */
    struct part part[TRACE_METADATA_PARTS];
    struct app_class classes[APPS_MAX];
    uint32_t changes; /* how often a class was removed */
} registry = {.part = {{.size = METADATA_BYTES}, {.size = TRACE_APP_ENTRIES_BYTES_MAX}}};
_Static_assert(APPS_MAX <= 8 * sizeof(((struct space *)0)->trace_classes), "a bit for each");

static uint64_t found_memory(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < boot_info.ram_count; i++)
        bytes += boot_info.ram[i].size;
    return bytes;
}

static struct trace_metadata_values system_values(void)
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
        .ring_refused = trace_ring_refused[0] ? trace_ring_refused : NULL,
    };
}

static void set_length(unsigned number, uint64_t length)
{
    __atomic_store_n(&registry.part[number].length, length, __ATOMIC_RELEASE);
    trace_store_set_metadata(number, virt_to_phys(registry.part[number].bytes), length);
}

void trace_metadata_init(void)
{
    const struct trace_metadata_values values = system_values();
    spin_lock(&trace_lock);
    for (struct part *part = registry.part; part < registry.part + TRACE_METADATA_PARTS; part++) {
        paddr_t frames = frame_alloc_run(part->size / FRAME_SIZE, trace_store_place(0));
        if (frames == FRAME_NONE)
            panic("trace: no memory for the metadata");
        part->bytes = phys_to_virt(frames);
    }
    uint64_t length = trace_metadata_expand(registry.part[TRACE_METADATA_TEXT].bytes, METADATA_BYTES,
                                            trace_metadata_template, trace_metadata_template_size, &values);
    assert(length <= METADATA_BYTES);
    set_length(TRACE_METADATA_TEXT, length);
    set_length(TRACE_METADATA_DESCRIPTORS, 0);
    spin_unlock(&trace_lock);
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

/* False: no space left. */
static bool add_pieces(struct app_class *class, uint32_t number, const struct trace_descriptor *descriptor)
{
    const struct part *text = &registry.part[TRACE_METADATA_TEXT],
                      *descriptors = &registry.part[TRACE_METADATA_DESCRIPTORS];
    const uint64_t bytes = TRACE_APP_ENTRY_BYTES(descriptor->bytes);
    const uint64_t length =
        trace_descriptor_tsdl(descriptor, number, text->bytes + text->length, text->size - text->length);
    if (length > text->size - text->length || bytes > descriptors->size - descriptors->length)
        return false;
    struct trace_app_entry *entry = (void *)(descriptors->bytes + descriptors->length);
    entry->class_number = number;
    entry->bytes = descriptor->bytes;
    memcpy(&entry->descriptor, descriptor, descriptor->bytes);
    class->piece[TRACE_METADATA_TEXT].begin = text->length;
    class->piece[TRACE_METADATA_TEXT].length = length;
    class->piece[TRACE_METADATA_DESCRIPTORS].begin = descriptors->length;
    class->piece[TRACE_METADATA_DESCRIPTORS].length = bytes;
    set_length(TRACE_METADATA_TEXT, text->length + length);
    set_length(TRACE_METADATA_DESCRIPTORS, descriptors->length + bytes);
    return true;
}

/* Returns a class number for a checked descriptor; equal ones, by their hashes, share a number. */
static int64_t add_schema(const struct trace_descriptor *descriptor, const uint8_t uuid[16])
{
    struct space *space = current_thread()->space;
    struct app_class *class = find_class(uuid);
    if (!class)
        return -E_NO_SLOT;
    uint32_t index = (uint32_t)(class - registry.classes);
    if (!class->is_used && !add_pieces(class, TRACE_CLASS_APP_FIRST + index, descriptor))
        return -E_TOO_LARGE;
    class->is_used = true;
    memcpy(class->uuid, uuid, 16);
    __atomic_fetch_or(&space->trace_classes, (uint16_t)(1u << index), __ATOMIC_RELAXED);
    return TRACE_CLASS_APP_FIRST + index;
}

/* Shortens the part first, so that readers of memory do not count the moving bytes as part of it. */
static void take_out_piece(unsigned number, struct piece gone)
{
    const struct part *part = &registry.part[number];
    uint64_t begin = gone.begin, size = gone.length, length = part->length;
    set_length(number, begin);
    memmove(part->bytes + begin, part->bytes + begin + size, length - begin - size);
    for (struct app_class *class = registry.classes; class < registry.classes + APPS_MAX; class ++)
        if (class->is_used && class->piece[number].begin > begin)
            class->piece[number].begin -= size;
    set_length(number, length - size);
}

static void remove_class(struct app_class *gone)
{
    for (unsigned number = 0; number < TRACE_METADATA_PARTS; number++)
        take_out_piece(number, gone->piece[number]);
    registry.changes++;
    /* the next class with this number begins with all its events */
    __atomic_store_n(&trace_info_page.switches[TRACE_CLASS_APP_FIRST + (gone - registry.classes)], ~0ull,
                     __ATOMIC_RELAXED);
    memset(&trace_info_page.app_limit[(gone - registry.classes) * TRACE_APP_LIMITED_MAX], 0,
           TRACE_APP_LIMITED_MAX * sizeof(trace_info_page.app_limit[0]));
    *gone = (struct app_class){.is_used = false};
}

int64_t trace_add_costs(void)
{
    const struct part *part = &registry.part[TRACE_METADATA_TEXT];
    spin_lock(&trace_lock);
    struct trace_text text = {.bytes = part->bytes + part->length, .capacity = part->size - part->length};
    trace_bench_write(&text);
    const bool fits = part->length + text.length <= part->size / 2; /* the rest is for classes */
    if (fits)
        set_length(TRACE_METADATA_TEXT, part->length + text.length);
    spin_unlock(&trace_lock);
    return fits ? 0 : -E_TOO_LARGE;
}

static void note_held(struct space *space, void *held)
{
    if (!__atomic_load_n(&space->released, __ATOMIC_RELAXED))
        *(uint16_t *)held |= __atomic_load_n(&space->trace_classes, __ATOMIC_RELAXED);
}

void trace_forget_classes(void)
{
    uint16_t held = 0; /* nobody else registers meanwhile */
    assert(spin_held(&trace_lock));
    space_for_each(note_held, &held);
    for (uint32_t i = 0; i < APPS_MAX; i++)
        if (registry.classes[i].is_used && !(held >> i & 1))
            remove_class(&registry.classes[i]);
}

/* NULL: that class is not registered. */
static const struct app_class *class_with(uint32_t class_number)
{
    const uint32_t index = class_number - TRACE_CLASS_APP_FIRST;
    return index < APPS_MAX && registry.classes[index].is_used ? &registry.classes[index] : NULL;
}

static const struct trace_descriptor *descriptor_of(const struct app_class *class)
{
    const char *descriptors = registry.part[TRACE_METADATA_DESCRIPTORS].bytes;
    const struct trace_app_entry *entry =
        (const void *)(descriptors + class->piece[TRACE_METADATA_DESCRIPTORS].begin);
    return &entry->descriptor;
}

static uint32_t *limit_of(const struct app_class *class, const struct trace_event_record *event)
{
    const uint32_t number = TRACE_CLASS_APP_FIRST + (uint32_t)(class - registry.classes);
    return &trace_info_page.app_limit[trace_app_limit_index(
        number, trace_descriptor_limit(descriptor_of(class), event))];
}

uint32_t *trace_find_app_limit(uint32_t id, bool is_threshold)
{
    assert(spin_held(&trace_lock));
    const struct app_class *class = class_with(TRACE_ID_CLASS(id));
    const struct trace_event_record *event =
        class ? trace_descriptor_find(descriptor_of(class), TRACE_ID_MINOR(id)) : NULL;
    const enum trace_limit_kind kind = is_threshold ? TRACE_LIMIT_ABOVE : TRACE_LIMIT_SAMPLED;
    return event && trace_event_limit_kind(event) == kind ? limit_of(class, event) : NULL;
}

static void for_each_limit(const struct app_class *class,
                           void (*call)(uint32_t id, bool is_threshold, uint32_t limit))
{
    const struct trace_descriptor *descriptor = descriptor_of(class);
    const struct trace_event_record *event = trace_descriptor_events(descriptor);
    const uint32_t number = TRACE_CLASS_APP_FIRST + (uint32_t)(class - registry.classes);
    uint32_t limited = 0;
    for (uint32_t i = 0; i < descriptor->event_count; i++, event = trace_event_end(event)) {
        if (event->limit == TRACE_LIMIT_NONE)
            continue;
        const uint32_t limit = trace_info_page.app_limit[trace_app_limit_index(number, limited++)];
        if (limit > 1)
            call(TRACE_ID(number, event->minor), trace_event_limit_kind(event) == TRACE_LIMIT_ABOVE, limit);
    }
}

void trace_for_each_app_limit(void (*call)(uint32_t id, bool is_threshold, uint32_t limit))
{
    assert(spin_held(&trace_lock));
    for (const struct app_class *class = registry.classes; class < registry.classes + APPS_MAX; class ++)
        if (class->is_used)
            for_each_limit(class, call);
}

static int64_t register_descriptor(const struct trace_descriptor *descriptor, uint64_t size,
                                   const uint8_t uuid[16])
{
    uint64_t halves[2] = {0};
    if (!trace_descriptor_check(descriptor, size))
        return -E_BAD_ARGUMENT;
    const char *name = trace_descriptor_text(descriptor, descriptor->class_name);
    if (trace_find_system_class(name, strlen(name)) >= 0)
        return -E_BAD_ARGUMENT;
    spin_lock(&trace_lock);
    int64_t number = add_schema(descriptor, uuid);
    spin_unlock(&trace_lock);
    trace_build_id(uuid, halves);
    if (number >= 0)
        trace_trace_schema((uint32_t)number, current_thread()->space->pid, halves[0], halves[1], name);
    return number;
}

int64_t sys_trace_register(const void *user_descriptor, uint64_t size, const uint8_t *user_uuid)
{
    uint8_t uuid[16];
    if (!size || size > TRACE_DESCRIPTOR_BYTES_MAX)
        return size ? -E_TOO_LARGE : -E_BAD_ARGUMENT;
    int64_t result = user_read(uuid, user_uuid, sizeof(uuid));
    if (result)
        return result;
    paddr_t frames = frame_alloc_order(DESCRIPTOR_ORDER);
    if (frames == FRAME_NONE)
        return -E_NO_MEMORY;
    void *descriptor = phys_to_virt(frames);
    result = user_read(descriptor, user_descriptor, size);
    if (!result)
        result = register_descriptor(descriptor, size, uuid);
    frame_free_order(frames, DESCRIPTOR_ORDER);
    return result;
}

const struct trace_app_schemas *trace_app_schemas(void)
{
    static struct trace_app_schemas schemas;
    static char memory[TABLES_BYTES];
    static uint64_t loaded;  /* bytes of descriptors */
    static uint32_t changes; /* registry.changes at that time */
    const struct part *descriptors = &registry.part[TRACE_METADATA_DESCRIPTORS];
    uint64_t length = __atomic_load_n(&descriptors->length, __ATOMIC_ACQUIRE);
    if (length != loaded || registry.changes != changes)
        trace_load_app_schemas(&schemas, descriptors->bytes, length, memory, sizeof(memory));
    loaded = length;
    changes = registry.changes;
    return &schemas;
}

int64_t sys_trace_metadata(uint32_t number, uint64_t offset, void *user_buffer, uint64_t size)
{
    if (number >= TRACE_METADATA_PARTS)
        return -E_BAD_ARGUMENT;
    const struct part *part = &registry.part[number];
    uint64_t length = __atomic_load_n(&part->length, __ATOMIC_ACQUIRE);
    if (offset >= length)
        return 0;
    if (size > length - offset)
        size = length - offset;
    int64_t error = user_write(user_buffer, part->bytes + offset, size);
    return error ? error : (int64_t)size;
}
