/*
 * link.h - frames over a file descriptor (trace/format/WIRE.md), and the source built on them.
 *
 * A malicious peer can make these functions fail, but not wait forever, read out of bounds or use more
 * memory than one frame.
 */
#pragma once

#include <tools/tarn/source/source.h>

struct link {
    int fd; /* non-blocking; -1: closed */
    /* What comes first may be the rest of an earlier conversation, on a port that has no connections: HELLO
     * is searched for. A restart of the peer does not show there, so a frame that stops arriving breaks the
     * link. */
    bool joins;
    uint32_t sent, received; /* sequence number of the next frame */
    uint8_t *buffer;
    size_t start, end; /* bytes received but not yet used */
    double heard_at;   /* when the last of them came: now_seconds() */
};

void link_open(struct link *link, int fd, bool joins);
void link_close(struct link *link);
/* PAYLOAD is valid until the next call. */
enum source_got link_receive(struct link *link, struct wire_frame *frame, const uint8_t **payload,
                             int timeout_ms, struct fail *fail);

/* Waits until the descriptor is ready (1) or until UNTIL (0); -1: errno. */
int wait_ready(int fd, short events, double until);
/* Sends all bytes (1), unless that takes until UNTIL (0); -1: errno. */
int send_all(int fd, const void *bytes, size_t size, double until);

/* Return a non-blocking descriptor; -1: FAIL, and errno, which is EINVAL for a wrong address. */
int connect_tcp(const char *address, struct fail *fail); /* HOST:PORT */
int connect_socket(const char *path, struct fail *fail); /* the path of a socket */
int connect_serial(const char *path, struct fail *fail); /* the same, for QEMU's virtual serial port */

struct link_class {
    int (*connect)(const char *address, struct fail *fail);
    bool joins;
};
