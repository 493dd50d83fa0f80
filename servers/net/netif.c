/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netif.c - lwIP's network interface on the device: frames in and out, the address, large segments.
 *
 * Sending copies nothing if the parts of a frame lie in DMA memory (lwIP's heap, streams): the device gets
 * their addresses, and the pbuf is held until they are sent. Receiving copies each frame once, so that a
 * client that does not read cannot use up the device's buffers.
 *
 * Large segments: QEMU's user network (slirp) offers no offloads, and with segments of 1460 bytes the cost
 * per frame limits throughput. But slirp accepts frames and TCP segments of any size, whatever maximum it
 * announces. It is recognised by its hardware address, 52:55 followed by its IP address; TCP segments to it
 * grow up to LARGE_SEGMENT.
 */
#include "device.h"
#include "socket.h"
#include "stack.h"
#include "timer.h"
#include <lwip/dhcp.h>
#include <lwip/etharp.h>
#include <lwip/init.h>
#include <lwip/priv/tcp_priv.h>
#include <lwip/stats.h>
#include <lwip/timeouts.h>
#include <netif/ethernet.h>
#include <servers/lib/server.h>
#include <servers/virtio/dma.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tarn/runtime.h>
#include <trace/net.h>

#define ETHERNET_MTU    1500
#define LARGE_SEGMENT   32000
#define DHCP_TIMEOUT_MS 3000

static struct netif interface;
static uint32_t frames_queued;
static bool peer_is_slirp;
static struct dma heap;
unsigned char *net_heap;

/* ---- sending --------------------------------------------------------------------------------------- */

/* Stores the physical addresses of a frame's parts. Returns their number; 0 if the device cannot read them
 * all or they are too many. */
static unsigned find_pieces(const struct pbuf *p, struct net_piece pieces[NET_PIECES_MAX])
{
    unsigned count = 0;

    for (; p; p = p->next) {
        if (p->len == 0)
            continue;
        if (count == NET_PIECES_MAX || !dma_physical(p->payload, p->len, &pieces[count].physical))
            return 0;
        pieces[count++].size = p->len;
    }
    return count;
}

static err_t send_frame(struct netif *netif, struct pbuf *p)
{
    struct net_piece pieces[NET_PIECES_MAX];
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
    if (!device_transmit(pieces, count, p)) {
        trace_net_drop(p->tot_len, TRACE_NET_QUEUE_FULL);
        pbuf_free(p);
        return ERR_MEM;
    }
    trace_net_dev_queue(p->tot_len, ++frames_queued);
    return ERR_OK;
}

void net_frame_sent(void *cookie)
{
    frames_queued--;
    pbuf_free(cookie);
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

void net_frame_received(const void *frame, uint32_t size)
{
    const uint8_t *bytes = frame;

    if (size < SIZEOF_ETH_HDR || size > 0xffff)
        return;
    trace_net_if_receive_skb(size, (uint32_t)bytes[12] << 8 | bytes[13]);
    struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)size, PBUF_POOL);
    if (!p) {
        trace_net_drop(size, TRACE_NET_NO_BUFFER);
        return;
    }
    detect_slirp(bytes);
    pbuf_take(p, frame, (u16_t)size);
    if (interface.input(p, &interface) != ERR_OK) {
        trace_net_drop(size, TRACE_NET_REFUSED);
        pbuf_free(p);
    }
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

bool start_stack(cap_t notification)
{
    if (!device_start(interface.hwaddr, notification, NET_BIT_DEVICE))
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

void read_interface(uint64_t word[4])
{
    word[0] = lwip_ntohl(netif_ip4_addr(&interface)->addr);
    word[1] = lwip_ntohl(netif_ip4_netmask(&interface)->addr);
    word[2] = lwip_ntohl(netif_ip4_gw(&interface)->addr);
    word[3] = 0;
    for (int i = 0; i < 6; i++)
        word[3] = word[3] << 8 | interface.hwaddr[i];
}

void handle_bits(uint64_t bits)
{
    if (bits & NET_BIT_DEVICE)
        device_poll();
    finish_round();
}

void finish_round(void)
{
    sys_check_timeouts();
    netif_poll_all();
    device_flush();
    arm_timer(sys_timeouts_sleeptime());
}
