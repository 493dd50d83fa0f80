/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/source/gdb_client.h - packets of gdb's remote protocol to QEMU's server and back.
 *
 * QEMU stops the guest when a debugger connects and leaves it stopped when the connection closes without a
 * detach, which is what happens here. Replies are bounded in size and time: a peer that lies makes this fail,
 * never wait for ever.
 */
#ifndef TARN_GDB_CLIENT_H
#define TARN_GDB_CLIENT_H

#include <tools/tarn/tarn.h>

#define GDB_REPLY_SECONDS 10.0
#define GDB_PACKET_MAX    (64u << 10)

struct gdb_client {
    int fd;
    bool acknowledges;
    size_t start, end; /* bytes that came and were not taken yet */
    char buffer[GDB_PACKET_MAX];
    char packet[GDB_PACKET_MAX]; /* the last, NUL terminated */
};

/* ADDRESS: HOST:PORT, or a socket's path. The caller closes CLIENT, also after a failure. */
bool gdb_client_open(struct gdb_client *client, const char *address, struct fail *fail);
void gdb_client_close(struct gdb_client *client);
bool gdb_client_send(struct gdb_client *client, const char *text, struct fail *fail);
/* The answer to a request, into client->packet. That the guest stopped because we came is passed over. */
bool gdb_client_receive(struct gdb_client *client, struct fail *fail);
/* Sends and receives. */
bool gdb_client_ask(struct gdb_client *client, const char *request, struct fail *fail);
/* What the machine's monitor says to a command, within SECONDS; to be freed. NULL: fail. */
char *gdb_client_monitor(struct gdb_client *client, const char *command, double seconds, struct fail *fail);
/* Stops a running guest; gdb_client_stopped then waits. */
bool gdb_client_interrupt(struct gdb_client *client, struct fail *fail);
/* Waits until the server at a socket's path has read all that was sent. */
bool gdb_client_wait_read(struct gdb_client *client, double seconds, struct fail *fail);
/* Waits until the guest says that it has stopped. */
bool gdb_client_stopped(struct gdb_client *client, double seconds, struct fail *fail);
/* The value of a hexadecimal digit; -1: it is none. */
int gdb_hex_digit(char c);

#endif
