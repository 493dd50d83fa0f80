/*
 * lwipopts.h - configuration of lwIP: one thread, raw API, IPv4 with TCP and UDP, heap in DMA memory.
 *
 * lwIP's heap is DMA memory (dma.h), so the headers that lwIP builds are sent from where they are. The send
 * buffer of a connection is larger than a stream (NET_STREAM_BYTES).
 */
#pragma once

#define NO_SYS               1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET          0
#define LWIP_NETCONN         0
#define LWIP_STATS           1 /* only for memory, for NET_STATISTICS */
#define LWIP_STATS_LARGE     1
#define MEM_STATS            1
#define MEMP_STATS           1
#define SYS_STATS            0
#define LINK_STATS           0
#define ETHARP_STATS         0
#define IP_STATS             0
#define IPFRAG_STATS         0
#define ICMP_STATS           0
#define UDP_STATS            0
#define TCP_STATS            0
#define LWIP_TIMERS          1

/* memory */
#define MEM_ALIGNMENT 8
#define MEM_SIZE      (3 * 1024 * 1024)
extern unsigned char *net_heap; /* netif.c */
#define LWIP_RAM_HEAP_POINTER   net_heap
#define PBUF_POOL_SIZE          1024
#define PBUF_POOL_BUFSIZE       1536
#define MEMP_NUM_PBUF           4096 /* references to streams */
#define MEMP_NUM_TCP_PCB        256
#define MEMP_NUM_TCP_PCB_LISTEN 64
#define MEMP_NUM_UDP_PCB        128
#define MEMP_NUM_TCP_SEG        8192
#define MEMP_NUM_ARP_QUEUE      64 /* frames waiting for a hardware address */
#define MEMP_NUM_SYS_TIMEOUT    (LWIP_NUM_SYS_TIMEOUT_INTERNAL + 4)

/* protocols */
#define LWIP_IPV4                1
#define LWIP_IPV6                0
#define LWIP_ARP                 1
#define ARP_QUEUEING             1 /* otherwise each frame to a new peer drops the one before it */
#define ARP_QUEUE_LEN            32
#define LWIP_ICMP                1
#define LWIP_UDP                 1
#define LWIP_TCP                 1
#define LWIP_DHCP                1
#define LWIP_DHCP_DOES_ACD_CHECK 0
#define IP_REASSEMBLY            1
#define IP_FRAG                  1
#define SO_REUSE                 1
#define IP_SOF_BROADCAST         1
#define ETH_PAD_SIZE             0
#define LWIP_SINGLE_NETIF        0
#define LWIP_NETIF_LOOPBACK      1
#define LWIP_HAVE_LOOPIF         1

/* TCP */
#define TCP_MSS               1460
#define LWIP_WND_SCALE        1
#define TCP_RCV_SCALE         0
/* Below 64 KiB: unread bytes are one pbuf chain, whose length has 16 bits. */
#define TCP_WND               (44 * TCP_MSS)
#define TCP_SND_BUF           (1088 * 1024)
#define TCP_SND_QUEUELEN      8000
#define TCP_SNDLOWAT          (16 * 1024)
#define TCP_QUEUE_OOSEQ       1
#define LWIP_TCP_KEEPALIVE    1
#define TCP_LISTEN_BACKLOG    1
#define LWIP_TCP_TIMESTAMPS   0
#define LWIP_CHECKSUM_ON_COPY 0
