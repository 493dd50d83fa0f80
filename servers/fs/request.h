/* SPDX-License-Identifier: BSD-2-Clause */
/* servers/fs/request.h - what the server loop calls for each request. */
#ifndef SERVERS_FS_REQUEST_H
#define SERVERS_FS_REQUEST_H

#include <servers/lib/server.h>

int64_t fs_handle(struct server_request *request);

#endif
