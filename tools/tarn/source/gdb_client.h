/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gdb_client.h - a client of gdb's remote protocol, for QEMU's gdb server.
 *
 * QEMU stops the guest when a debugger connects. It stays stopped when the connection closes without a
 * detach, which is how this client leaves. Replies are bounded in size and time: a malicious peer causes a
 * failure, never an endless wait.
 */
#ifndef TARN_GDB_CLIENT_H
#define TARN_GDB_CLIENT_H

#include <tools/tarn/tarn.h>

#define GDB_REPLY_SECONDS 60.0
#define GDB_PACKET_MAX    (64u << 10)

struct gdb_client {
    int fd;
    bool acknowledges;
    size_t start, end; /* received bytes that were not used yet */
    char buffer[GDB_PACKET_MAX];
    char packet[GDB_PACKET_MAX]; /* the last one, NUL-terminated */
};

/* ADDRESS: HOST:PORT, or a socket's path. Close CLIENT even after a failure. */
bool gdb_client_open(struct gdb_client *client, const char *address, struct fail *fail);
void gdb_client_close(struct gdb_client *client);
bool gdb_client_send(struct gdb_client *client, const char *text, struct fail *fail);
/* Receives the reply to a request into client->packet. Skips the stop reply caused by the connection. */
bool gdb_client_receive(struct gdb_client *client, struct fail *fail);
bool gdb_client_ask(struct gdb_client *client, const char *request, struct fail *fail);
/* Runs a command of QEMU's monitor, for at most SECONDS.
 * Returns its output, which the caller frees; NULL: FAIL. */
char *gdb_client_monitor(struct gdb_client *client, const char *command, double seconds, struct fail *fail);
/* Converts the digits of COUNT bytes. False: HEX has other characters. */
bool gdb_bytes(const char *hex, void *to, size_t count);

#endif
