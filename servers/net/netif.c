/*
 * netif.c - lwIP's network interface on virtio-net (modern, over PCI): frames in and out, the address.
 *
 * Sending copies nothing if the parts of a frame lie in DMA memory (lwIP's heap, streams): the device gets
 * their addresses, behind one constant empty virtio header, and the pbuf is held until they are sent. Sent
 * frames are collected when further ones are queued, so sending needs no interrupts unless the queue is full.
 * Receiving copies each frame once, so that a client that does not read cannot use up the device's buffers.
 *
 * Large segments: QEMU's user network (slirp) offers no offloads (peer_has_vnet_hdr), and with segments of
 * 1460 bytes the cost per frame limits throughput. But slirp accepts frames and TCP segments of any size,
 * whatever maximum it announces. It is recognised by its hardware address, 52:55 followed by its IP address;
 * TCP segments to it grow up to LARGE_SEGMENT.
 */
#include "socket.h"
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/stats.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>
#include <servers/lib/server.h>
#include <servers/virtio/registers.h>
#include <servers/virtio/virtio.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/net.h>

#define ETHERNET_MTU    1500
#define LARGE_SEGMENT   32000
#define DHCP_TIMEOUT_MS 3000

#define VIRTIO_NET_F_MAC (1ull << 5)
#define RECEIVE_BYTES    2048u
#define PIECES_MAX       8

enum { QUEUE_RECEIVE, QUEUE_TRANSMIT };

/* Precedes every frame. */
struct virtio_net_header {
    uint8_t flags, gso_type;
    uint16_t header_length, gso_size, checksum_start, checksum_offset, buffers;
};
_Static_assert(sizeof(struct virtio_net_header) == 12, "virtio 1.0, 5.1.6");

static struct netif interface;
static struct virtio_device device;
static struct virtio_queue receive_queue, transmit_queue;
static uint16_t free_head, free_count;      /* transmit: unused descriptors, linked by next */
static struct pbuf *sent[VIRTIO_QUEUE_MAX]; /* transmit: frames, by first descriptor */
static struct dma receive_buffers, header, heap;
static uint32_t frames_queued;
static bool peer_is_slirp;
unsigned char *net_heap;

/* ---- sending --------------------------------------------------------------------------------------- */

static void collect_sent(void)
{
    struct virtio_queue *queue = &transmit_queue;
    uint32_t head, length;
    while (virtio_take_used(queue, &head, &length)) {
        uint16_t last = (uint16_t)head, count = 1;
        for (; queue->descriptors[last].flags & le16(VIRTQ_NEXT); count++)
            last = le16(queue->descriptors[last].next);
        queue->descriptors[last].next = le16(free_head);
        free_head = (uint16_t)head;
        free_count += count;
        frames_queued--;
        pbuf_free(sent[head]);
    }
}

/* A part of a frame to be sent. */
struct piece {
    uint64_t physical;
    uint32_t size;
};

/* Stores the physical addresses of a frame's parts. Returns their number; 0 if the device cannot read them
 * all or they are too many. */
static unsigned find_pieces(const struct pbuf *p, struct piece pieces[PIECES_MAX])
{
    unsigned count = 0;
    for (; p; p = p->next) {
        if (p->len == 0)
            continue;
        if (count == PIECES_MAX || !dma_physical(p->payload, p->len, &pieces[count].physical))
            return 0;
        pieces[count++].size = p->len;
    }
    return count;
}

/* Whether `count` descriptors are free. */
static bool has_descriptors(unsigned count)
{
    struct virtio_queue *queue = &transmit_queue;
    if (free_count < queue->size / 2)
        collect_sent();
    if (free_count < count) {
        queue->available->flags = 0; /* interrupt when descriptors become free */
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        collect_sent();
    }
    return free_count >= count;
}

static void queue_frame(const struct piece *pieces, unsigned count, struct pbuf *frame)
{
    struct virtio_queue *queue = &transmit_queue;
    uint16_t head = free_head, at = head;
    queue->descriptors[at].address = le64(header.physical);
    queue->descriptors[at].length = le32(sizeof(struct virtio_net_header));
    for (unsigned i = 0; i < count; i++) {
        queue->descriptors[at].flags = le16(VIRTQ_NEXT);
        at = le16(queue->descriptors[at].next);
        queue->descriptors[at].address = le64(pieces[i].physical);
        queue->descriptors[at].length = le32(pieces[i].size);
    }
    queue->descriptors[at].flags = 0;
    free_head = le16(queue->descriptors[at].next);
    free_count -= count + 1;
    sent[head] = frame;
    virtio_offer(queue, head);
}

static err_t send_frame(struct netif *netif, struct pbuf *p)
{
    struct piece pieces[PIECES_MAX];
    unsigned count = find_pieces(p, pieces);
    if (count > 0) {
        pbuf_ref(p);
    } else {
        p = pbuf_clone(PBUF_RAW, PBUF_RAM, p); /* the heap is DMA memory */
        if (!p || (count = find_pieces(p, pieces)) == 0) {
            trace_net_drop(p ? p->tot_len : 0, TRACE_NET_NO_BUFFER);
            if (p)
                pbuf_free(p);
            return ERR_MEM;
        }
    }
    if (!has_descriptors(count + 1)) {
        trace_net_drop(p->tot_len, TRACE_NET_QUEUE_FULL);
        pbuf_free(p);
        return ERR_MEM;
    }
    queue_frame(pieces, count, p);
    trace_net_dev_queue(p->tot_len, ++frames_queued);
    return ERR_OK;
}

/* ---- receiving ------------------------------------------------------------------------------------- */

static void detect_slirp(const uint8_t *frame)
{
    const uint8_t *mac = frame + 6;
    if (mac[0] != 0x52 || mac[1] != 0x55 || peer_is_slirp)
        return;
    peer_is_slirp = true;
    interface.mtu = 0; /* lwIP: no limit */
}

static void receive_frame(const uint8_t *bytes, uint32_t size)
{
    if (size < SIZEOF_ETH_HDR || size > 0xffff)
        return;
    trace_net_if_receive_skb(size, (uint32_t)bytes[12] << 8 | bytes[13]);
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)size, PBUF_POOL);
    if (!p) {
        trace_net_drop(size, TRACE_NET_NO_BUFFER);
        return;
    }
    detect_slirp(bytes);
    pbuf_take(p, bytes, (u16_t)size);
    if (interface.input(p, &interface) != ERR_OK) {
        trace_net_drop(size, TRACE_NET_REFUSED);
        pbuf_free(p);
    }
}

static void receive_frames(void)
{
    struct virtio_queue *queue = &receive_queue;
    uint32_t id, length;
    while (virtio_take_used(queue, &id, &length)) {
        const char *buffer = receive_buffers.address + id * (uint64_t)RECEIVE_BYTES;
        if (length > sizeof(struct virtio_net_header) && length <= RECEIVE_BYTES)
            receive_frame((const uint8_t *)buffer + sizeof(struct virtio_net_header),
                          length - (uint32_t)sizeof(struct virtio_net_header));
        virtio_offer(queue, (uint16_t)id);
    }
}

static void poll_device(void)
{
    struct virtio_queue *receive = &receive_queue;
    sys_irq_acknowledge((cap_t)device.irq);
    transmit_queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    collect_sent();
    do {
        receive->available->flags = le16(VIRTQ_NO_INTERRUPT);
        receive_frames();
        receive->available->flags = 0;
        /* Check once more after enabling interrupts; pairs with the device's write of the index. */
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } while (le16(receive->used->index) != receive->used_seen);
}

void tune_connection(struct tcp_pcb *pcb)
{
    if (!peer_is_slirp || ip_addr_isloopback(&pcb->remote_ip))
        return;
    pcb->mss = LARGE_SEGMENT;
    /* lwIP never sends if the congestion window is smaller than the first segment. */
    if (pcb->cwnd < 2 * LARGE_SEGMENT)
        pcb->cwnd = 2 * LARGE_SEGMENT;
}

/* ---- the interface --------------------------------------------------------------------------------- */

static err_t init_interface(struct netif *netif)
{
    memcpy(netif->name, "en", 2);
    netif->hwaddr_len = ETH_HWADDR_LEN;
    netif->mtu = ETHERNET_MTU;
    netif->output = etharp_output;
    netif->linkoutput = send_frame;
    netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
    return ERR_OK;
}

static void use_static_address(void *argument)
{
    ip4_addr_t address, mask, gateway;
    if (dhcp_supplied_address(&interface))
        return;
    dhcp_release_and_stop(&interface);
    IP4_ADDR(&address, 10, 0, 2, 15);
    IP4_ADDR(&mask, 255, 255, 255, 0);
    IP4_ADDR(&gateway, 10, 0, 2, 2);
    netif_set_addr(&interface, &address, &mask, &gateway);
    net_log("no DHCP reply, using 10.0.2.15");
}

static void flush_device(void)
{
    virtio_notify(&transmit_queue);
    virtio_notify(&receive_queue);
}

static bool make_buffers(void)
{
    if (!dma_allocate(&receive_buffers, (uint64_t)RECEIVE_BYTES * receive_queue.size) ||
        !dma_allocate(&header, sizeof(struct virtio_net_header)))
        return false;
    free_count = transmit_queue.size;
    transmit_queue.available->flags = le16(VIRTQ_NO_INTERRUPT);
    for (uint16_t i = 0; i < receive_queue.size; i++) {
        receive_queue.descriptors[i] = (struct virtq_descriptor){
            .address = le64(receive_buffers.physical + i * (uint64_t)RECEIVE_BYTES),
            .length = le32(RECEIVE_BYTES),
            .flags = le16(VIRTQ_WRITE),
        };
        virtio_offer(&receive_queue, i);
    }
    return true;
}

static bool start_device(cap_t notification)
{
    if (!virtio_open(&device, SLOT_DEVICE, VIRTIO_NET_F_MAC))
        return false;
    if (!virtio_enable_interrupt(&device, notification, NET_BIT_DEVICE) ||
        !virtio_make_queue(&device, &receive_queue, QUEUE_RECEIVE) ||
        !virtio_make_queue(&device, &transmit_queue, QUEUE_TRANSMIT) || !make_buffers()) {
        virtio_fail(&device);
        return false;
    }
    const volatile uint8_t *address = device.config;
    for (int i = 0; i < 6; i++)
        interface.hwaddr[i] = register_read8(&address[i]);
    virtio_go(&device);
    flush_device();
    return true;
}

bool start_stack(cap_t notification)
{
    if (!start_device(notification))
        return false;
    if (!dma_allocate(&heap, MEM_SIZE + 4096)) {
        net_log("no contiguous memory for the heap");
        return false;
    }
    net_heap = (unsigned char *)heap.address;
    lwip_init();
    netif_add_noaddr(&interface, NULL, init_interface, ethernet_input);
    netif_set_default(&interface);
    netif_set_up(&interface);
    dhcp_start(&interface);
    sys_timeout(DHCP_TIMEOUT_MS, use_static_address, NULL);
    net_log("virtio-net %02x:%02x:%02x:%02x:%02x:%02x", interface.hwaddr[0], interface.hwaddr[1],
            interface.hwaddr[2], interface.hwaddr[3], interface.hwaddr[4], interface.hwaddr[5]);
    return true;
}

bool is_own_address(uint32_t ip)
{
    return ip == 0 || ip >> 24 == IP_LOOPBACKNET || ip == lwip_ntohl(netif_ip4_addr(&interface)->addr);
}

void read_statistics(uint64_t word[4])
{
    word[0] = socket_count;
    word[1] = 0;
    for (const struct tcp_pcb *pcb = tcp_active_pcbs; pcb; pcb = pcb->next)
        word[1]++;
    word[2] = lwip_stats.memp[MEMP_PBUF_POOL]->used;
    word[3] = lwip_stats.mem.used;
}

void handle_bits(uint64_t bits)
{
    if (bits & NET_BIT_DEVICE)
        poll_device();
    finish_round();
}

void finish_round(void)
{
    sys_check_timeouts();
    netif_poll_all();
    flush_device();
    arm_timer(sys_timeouts_sleeptime());
}
