/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image_open.c - opens the trace in guest memory as a source, of the running system or the previous boot:
 * its HELLO, rings, and metadata.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tools/tarn/read/tsdl.h>
#include <tools/tarn/source/image_source.h>
#include <trace/events.h>
#include <trace/format/metadata.h>

static void fill_hello(struct image_source *image)
{
    struct wire_hello *hello = &image->source.hello;

    wire_hello_of_store(hello, &image->image.store,
                        (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != image->image.swap);
    hello->mask = image_info64(&image->image, offsetof(struct trace_info, mask));
}

/* Copies the machine's name, which goes into the metadata in quotes. */
static void copy_machine(char to[17], const char from[16])
{
    size_t length = 0;

    while (length < 16 && from[length] && strchr("abcdefghijklmnopqrstuvwxyz0123456789_-", from[length]))
        length++;
    snprintf(to, 17, "%.*s", (int)length, from);
}

/* Makes the metadata from the schema of this program, if the guest was built with the same. */
static bool make_metadata(struct image_source *image, struct fail *fail)
{
    static const uint8_t ours[16] = TRACE_SCHEMA_UUID_BYTES;
    const struct wire_hello *hello = &image->source.hello;
    char machine[17], our_text[37], its_text[37];

    if (memcmp(hello->uuid, ours, sizeof(ours)) != 0) {
        format_uuid(ours, our_text);
        format_uuid(hello->uuid, its_text);
        return fail_set(fail,
                        "the guest's memory has no metadata; its schema is %s, and this program has only %s",
                        its_text, our_text);
    }
    copy_machine(machine, hello->machine);
    const struct trace_metadata_values values = {
        .byte_order = hello->byte_order == 1 ? "le" : "be",
        .hostname = "tarn",
        .architecture = machine,
        .cpu_count = hello->cpu_count,
        .clock_hz = hello->clock_hz,
        .clock_offset_ns = hello->clock_offset_ns,
    };
    uint64_t size =
        trace_metadata_expand(NULL, 0, trace_metadata_template, trace_metadata_template_size, &values);
    image->metadata = alloc_zero(1, size);
    image->metadata_size = trace_metadata_expand(image->metadata, size, trace_metadata_template,
                                                 trace_metadata_template_size, &values);
    return true;
}

/* Reads the guest's own metadata, if it has any. */
bool image_read_metadata(struct image_source *image, struct fail *fail)
{
    size_t size;
    char *text = image_metadata(&image->image, &size);

    image->metadata_sent = false;
    free(image->metadata);
    image->metadata = NULL;
    if (text && check_metadata(&image->source.hello, text, size, fail)) {
        image->metadata = text, image->metadata_size = size;
        return true;
    }
    free(text);
    return make_metadata(image, fail);
}

bool image_open_rings(struct image_source *image, struct fail *fail)
{
    for (uint32_t cpu = 0; cpu < image->source.hello.cpu_count; cpu++) {
        struct image_ring *ring = &image->drain[cpu].ring;
        uint64_t index = ring->index;
        if (!image_ring_open(ring, &image->image, cpu, fail))
            return false;
        if (!ring->index_is_good && (index & ~TRACE_INDEX_CLOSED) > ring->index)
            ring->index = index;
    }
    return !image->image.broken || fail_set(fail, "%s", image->image.fail.text);
}

void image_source_close(struct source *source)
{
    struct image_source *image = (struct image_source *)source;

    image_close(&image->image);
    if (image->memory)
        image->memory->class->close(image->memory);
    free(image->metadata);
    free(image->copy);
    free(image);
}

static bool prepare(struct image_source *image, struct fail *fail)
{
    fill_hello(image);
    if (!check_hello(&image->source.hello, fail))
        return false;
    free(image->copy);
    image->copy = alloc_zero(1, image->source.hello.buffer_bytes);
    return image_open_rings(image, fail) && image_read_metadata(image, fail);
}

static struct source *try_open(const struct source_class *class, const char *address, struct fail *fail)
{
    struct image_source *image = alloc_zero(1, sizeof(*image));

    image->source.class = class;
    image->memory = class->memory->open(address, fail);
    if (image->memory && image_open(&image->image, image->memory, 0, fail) && prepare(image, fail))
        return &image->source;
    image_source_close(&image->source);
    return NULL;
}

struct source *open_image(const struct source_class *class, const char *address, double wait_seconds,
                          struct fail *fail)
{
    double until = now_seconds() + wait_seconds;

    for (;;) {
        struct source *source = try_open(class, address, fail);
        if (source || now_seconds() >= until)
            return source;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

bool image_turn_to_previous(struct image_source *image, struct fail *fail)
{
    image_close(&image->image);
    memset(image->drain, 0, sizeof(image->drain));
    return image_open(&image->image, image->memory, 1, fail) && prepare(image, fail);
}
