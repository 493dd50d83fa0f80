/*
 * pad.c - makes one-time pads: a driver for virtio-rng, and its client.
 *
 *     pad driver    the driver; runs until killed. Needs `make run RNG=1` and the machine capability
 *     pad SHEETS    makes sheets of random bytes, 64 KiB each, and prints a checksum of each
 *
 * THIS DRIVER HAS AN INTENTIONAL BUG, which docs/debugging.md finds. When the generator is slow (QEMU's is
 * limited to 64 KiB a second here), the driver does not wait: it frees the buffer, but the device still
 * writes to it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACE_DEFINE_PAD
#include <app/pad.h>
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <tarn/runtime.h>
#include <tarn/service.h>

#define SERVICE     "pad"
#define VIRTIO_RNG  0x10441af4 /* device number, vendor */
#define SHEET_BYTES 0x10000u
#define PATIENCE_NS 200000000ull
#define START_NS    10000000000ull

enum { LABEL_SHEET = 1 }; /* reply: label 0 or errno, word 0 the sheet's checksum */

/* ---- the driver ------------------------------------------------------------------------------------ */

static struct virtio_device device;
static struct virtio_queue queue;
static cap_t wakeup; /* notification: the device has finished a request */
static uint64_t requests;
static uint64_t posted[VIRTIO_QUEUE_MAX]; /* by descriptor: number of the request that posted the buffer */

static bool start_device(void)
{
    int64_t notification = sys_notification_create(), rng = sys_machine_device(SLOT_MACHINE, VIRTIO_RNG);
    wakeup = notification > 0 ? (cap_t)notification : 0;
    if (rng < 0 || sys_notification_bind(wakeup) || !virtio_open(&device, (cap_t)rng, 0) ||
        !virtio_enable_interrupt(&device, wakeup, 1) || !virtio_make_queue(&device, &queue, 0))
        return false;
    virtio_go(&device);
    return true;
}

static void post(uint64_t request, const struct dma *buffer)
{
    uint16_t slot = (uint16_t)(request % queue.size);
    queue.descriptors[slot] = (struct virtq_descriptor){
        .address = le64(buffer->physical), .length = le32(SHEET_BYTES), .flags = le16(VIRTQ_WRITE)};
    posted[slot] = request;
    trace_pad_post(request, buffer->physical, SHEET_BYTES);
    virtio_offer(&queue, slot);
    virtio_notify(&queue);
}

/* Collects finished buffers. Returns the number of bytes written for this request; 0: not finished. */
static uint32_t take_bytes(uint64_t request)
{
    uint32_t slot, length, taken = 0;
    while (virtio_take_used(&queue, &slot, &length)) {
        if (posted[slot] == request) {
            trace_pad_done(request, length);
            taken = length;
        } else {
            trace_pad_late(posted[slot], length);
        }
    }
    return taken;
}

static uint32_t wait_for_bytes(uint64_t request)
{
    uint64_t deadline = deadline_after(PATIENCE_NS);
    uint32_t length;
    while (!(length = take_bytes(request))) {
        if (sys_notification_wait(wakeup, deadline) < 0)
            return 0;
        sys_irq_acknowledge((cap_t)device.irq);
    }
    return length;
}

static uint64_t sum(const char *bytes, uint32_t length)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < length; i++)
        result = result * 31 + (uint8_t)bytes[i];
    return result;
}

static int make_sheet(uint64_t *checksum)
{
    struct dma buffer;
    uint64_t request = ++requests;
    if (!dma_allocate(&buffer, SHEET_BYTES))
        return ENOMEM;
    post(request, &buffer);
    uint32_t length = wait_for_bytes(request);
    if (length)
        *checksum = sum(buffer.address, length);
    else
        trace_pad_timeout(request);
    dma_free(&buffer);
    return length ? 0 : ETIMEDOUT;
}

static void reply(struct ipc_message *message)
{
    uint64_t checksum = 0;
    int result = message->label == LABEL_SHEET ? make_sheet(&checksum) : ENOSYS;
    *message = (struct ipc_message){.label = (uint64_t)result, .word = {checksum}};
}

/* Between requests, the device's interrupts arrive as messages. */
static void serve(cap_t endpoint)
{
    struct ipc_message message;
    int64_t error = ipc_receive(endpoint, &message);
    while (!error) {
        if (message.label == IPC_LABEL_NOTIFICATION) {
            sys_irq_acknowledge((cap_t)device.irq);
            take_bytes(0);
            error = ipc_receive(endpoint, &message);
        } else {
            reply(&message);
            error = ipc_reply_receive(endpoint, &message);
        }
    }
}

static int run_driver(void)
{
    if (!slot_is_filled(SLOT_MACHINE) || !start_device()) {
        fprintf(stderr, "pad: no virtio-rng device, or no machine capability\n");
        return 1;
    }
    int64_t endpoint = sys_endpoint_create();
    if (endpoint < 0 || service_publish(SERVICE, (cap_t)endpoint) < 0) {
        fprintf(stderr, "pad: a driver is already running\n");
        return 1;
    }
    serve((cap_t)endpoint);
    return 1;
}

/* ---- the client ------------------------------------------------------------------------------------ */

static int make_pad(unsigned sheets)
{
    unsigned made = 0;
    int64_t driver = service_connect(SERVICE, deadline_after(START_NS));
    if (driver < 0) {
        fprintf(stderr, "pad: there is no driver\n");
        return 1;
    }
    for (unsigned i = 0; i < sheets; i++) {
        struct ipc_message message = {.label = LABEL_SHEET};
        if (ipc_call((cap_t)driver, &message)) {
            fprintf(stderr, "pad: the driver has ended\n");
            return 1;
        }
        if (message.label) {
            printf("pad: sheet %u: %s\n", i + 1, strerror((int)message.label));
            continue;
        }
        printf("pad: sheet %u: checksum %016llx\n", i + 1, (unsigned long long)message.word[0]);
        made++;
    }
    printf("pad: %u of %u sheets\n", made, sheets);
    return made < sheets;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "driver")) {
        if (trace_register_schema(&trace_schema_pad) < 0)
            fprintf(stderr, "pad: no event class is free; continuing without events\n");
        return run_driver();
    }
    int sheets = argc == 2 ? atoi(argv[1]) : 0;
    if (sheets < 1) {
        fprintf(stderr, "usage: pad driver | pad SHEETS\n");
        return 2;
    }
    return make_pad((unsigned)sheets);
}
