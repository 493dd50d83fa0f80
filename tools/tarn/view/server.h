/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/server.h - the page and its questions over HTTP, for browsers on this machine only.
 *
 * It listens on the loopback address, and refuses what a page of another site makes a browser send: a request
 * must name this server as its host (a stranger's name may be made to point here), its Origin, if it has one,
 * must be this server, and Sec-Fetch-Site must not say that another site asks. Answers carry headers that
 * keep other sites from reading them. Only GET and HEAD; the only files are those in the program.
 *
 * An answer for which nobody waits any more, because the connection is closed, is given up.
 */
#ifndef TARN_SERVER_H
#define TARN_SERVER_H

#include <tools/tarn/view/view.h>

struct server;

/* PORT 0: any that is free. NULL: FAIL says why. */
struct server *server_start(struct view *view, unsigned port, struct fail *fail);
unsigned server_port(const struct server *server);
/* Ends when all answers under way have been given. */
void server_stop(struct server *server);

#endif
