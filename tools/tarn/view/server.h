/*
 * server.h - serves the page and its requests over HTTP, to browsers on this machine only.
 *
 * It listens on the loopback address, and refuses requests that pages of other sites cause: Host must be this
 * server (foreign names may resolve to loopback), Origin, if present, too, and Sec-Fetch-Site must not name
 * another site. If a client closes its connection, the work on its request stops.
 */
#pragma once

#include <tools/tarn/view/view.h>

struct server;

/* PORT 0: any free one. NULL: FAIL. */
struct server *server_start(struct view *view, unsigned port, struct fail *fail);
unsigned server_port(const struct server *server);
/* Returns when all requests in progress have their replies. */
void server_stop(struct server *server);
