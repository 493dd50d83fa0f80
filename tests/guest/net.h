/* net.h - for tests of sockets: addresses, and how many sockets the network server has. */
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <servers/protocol/net.h>
#include <stdint.h>
#include <sys/socket.h>
#include <tarn/server.h>

static inline struct sockaddr_in address_of(const char *ip, uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(ip), .sin_port = htons(port)};
}

/* 0: it does not reply; traced has one always. */
static inline uint64_t count_sockets(void)
{
    struct ipc_message message = {.label = NET_STATISTICS};
    return call_server_message(SLOT_NET, &message) < 0 ? 0 : message.word[0];
}
