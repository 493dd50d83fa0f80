/* SPDX-License-Identifier: BSD-2-Clause */
/* request.h - handler of file system requests, called by the server loop. */
#ifndef SERVERS_FS_REQUEST_H
#define SERVERS_FS_REQUEST_H

#include <servers/lib/server.h>

int64_t fs_handle(struct server_request *request);

#endif
