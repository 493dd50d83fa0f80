/* SPDX-License-Identifier: BSD-2-Clause */
/* tools/tarn/goto/places.c - finds where an event will be in a guest's memory; see places.h. */
#include <stddef.h>
#include <tools/tarn/goto/places.h>
#include <tools/tarn/source/guest.h>
#include <tools/tarn/symbols/program.h>

#define BOOT_RING_BYTES (sizeof(struct trace_control) + TRACE_BOOT_BUFFERS * TRACE_BUFFER_BYTES_DEFAULT)

/* Of the event's packet, in the ring of its CPU, which has so many buffers. */
static uint64_t packet_offset(const struct aim *aim, uint64_t buffers)
{
    return TRACE_BUFFERS_OFFSET + (aim->packet & (buffers - 1)) * aim->buffer_bytes;
}

static void find_event(struct places *places, const struct guest_ring *ring, const struct aim *aim)
{
    uint64_t packet = packet_offset(aim, ring->guest->store.buffer_count);

    places->index = guest_ring_place(ring, TRACE_CONTROL_AT(index));
    places->event = guest_ring_place(ring, packet + aim->offset);
    places->count = guest_ring_place(ring, packet + offsetof(struct trace_packet, committed));
}

/* Returns the boot ring's distance in bytes from the info page in a kernel's executable; 0: it has no such
 * symbols. */
static uint64_t boot_ring_behind_info(const char *kernel)
{
    struct program *program = program_open(kernel);
    uint64_t info, ring;

    if (program == NULL)
        return 0;
    info = program_address(program, "trace_info_page");
    ring = program_address(program, "boot_ring");
    program_close(program);
    return info != 0 && ring != 0 ? ring - info : 0;
}

/* The boot ring stays unchanged after its use, so its index shows which events it has. False: not this one.
 */
static bool find_event_at_boot(struct places *places, const struct guest *guest, const char *kernel,
                               const struct aim *aim)
{
    const uint64_t behind_info = boot_ring_behind_info(kernel);
    /* The symbol is that of the control page. */
    uint64_t control = guest->info + behind_info, index = 0;
    const struct memory_range *range = memory_find(guest->memory, control, BOOT_RING_BYTES);
    struct fail ignored;

    if (guest->info == 0 || behind_info == 0 || range == NULL ||
        !memory_read(guest->memory, control + offsetof(struct trace_control, index), &index, sizeof(index),
                     &ignored) ||
        !places_passed(guest_64(guest, index), aim_words(aim)))
        return false;
    uint64_t ring = range->place + (control - range->physical) - TRACE_CONTROL_OFFSET,
             packet = ring + packet_offset(aim, TRACE_BOOT_BUFFERS);
    places->index = ring + TRACE_CONTROL_AT(index);
    places->event = packet + aim->offset;
    places->count = packet + offsetof(struct trace_packet, committed);
    return true;
}

static bool find_places(struct places *places, struct guest *guest, const struct recipe *recipe,
                        const struct aim *aim)
{
    const struct trace_store *store = &guest->store;
    struct guest_ring ring;
    struct fail ignored;

    if (aim->stream->cpu >= store->cpu_count || aim->buffer_bytes != store->buffer_bytes ||
        !guest_ring_open(&ring, guest, aim->stream->cpu, &ignored) ||
        trace_eras_start(&ring.eras, aim->packet) != aim->packet * (aim->buffer_bytes / 8))
        return false; /* once the sizes have changed, a number does not tell the place in all of the run */
    places->is_at_boot = aim->stream->cpu == 0 && find_event_at_boot(places, guest, recipe->kernel.path, aim);
    if (!places->is_at_boot)
        find_event(places, &ring, aim);
    const struct memory_range *range = memory_find(guest->memory, store->self, sizeof(*store));
    if (range == NULL)
        return false;
    places->store = range->place + (store->self - range->physical) + offsetof(struct trace_store, magic);
    return true;
}

bool places_find(struct places *places, struct memory *memory, const struct recipe *recipe,
                 const struct aim *aim)
{
    struct fail ignored;
    struct guest guest;

    if (memory == NULL || !guest_open(&guest, memory, 0, &ignored))
        return false;
    bool found = find_places(places, &guest, recipe, aim);
    guest_close(&guest);
    return found;
}
