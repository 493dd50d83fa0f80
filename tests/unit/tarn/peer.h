/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/peer.h - the other end of a link that `tarn` opens, in a thread of the test.
 */
#ifndef TESTS_UNIT_TARN_PEER_H
#define TESTS_UNIT_TARN_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct peer {
    void (*talk)(int fd); /* set by the caller: speaks on one connection after another, and leaves it open */
    int listener;
    pthread_t thread;
    char source[160]; /* the name of the source that leads here */
};

/* SCHEME: tcp; serial or gdb, whose unix socket is at PATH. Ends the test if it cannot listen. */
void peer_start(struct peer *peer, const char *scheme, const char *path);
void peer_stop(struct peer *peer);
/* False: the other side has hung up. */
bool peer_get(int fd, void *to, size_t size);
bool peer_put(int fd, const void *from, size_t size);

#endif
