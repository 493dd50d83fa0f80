/* request.h - the server loop's view of file system requests. */
#pragma once

#include <servers/lib/client.h>
#include <servers/lib/server.h>

extern const struct handle_class open_file_handles;
int64_t fs_handle(struct server_request *request);
