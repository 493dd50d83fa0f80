/* request.h - handler of file system requests, called by the server loop. */
#pragma once

#include <servers/lib/server.h>

int64_t fs_handle(struct server_request *request);
