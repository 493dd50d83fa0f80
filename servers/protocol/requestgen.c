/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * servers/protocol/requestgen.c - names of requests for the trace: what a message's label means.
 *
 *     requestgen [SERVER]     prints lines `name = number`, for `enum ... from "requests"` of trace/schema;
 *                             of one server: its own, and those that every server understands
 *
 * The build lists the constants in the protocols' headers (REQUEST_NAMES, one REQUEST(NAME) a line); the
 * compiler tells their values. What lies below SERVER_LABEL_MIN is the same for all servers, or no label.
 */
#include <ctype.h>
#include <servers/protocol/console.h>
#include <servers/protocol/fs.h>
#include <servers/protocol/net.h>
#include <servers/protocol/proc.h>
#include <servers/protocol/server.h>
#include <servers/protocol/traced.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <tarn/abi.h>

static const struct {
    const char *name;
    unsigned long long label;
} requests[] = {
#define REQUEST(name) {#name, name},
#include REQUEST_NAMES
    {"PAGE", IPC_LABEL_PAGE},
    {"FAULT", IPC_LABEL_FAULT},
    {"NOTIFICATION", IPC_LABEL_NOTIFICATION},
};

/* SERVER NULL: all */
static int is_wanted(const char *name, unsigned long long label, const char *server)
{
    size_t length = server != NULL ? strlen(server) : 0;

    if (strncmp(name, "SERVER_", 7) == 0)
        return 1;
    return label >= SERVER_LABEL_MIN &&
           (server == NULL || (strncasecmp(name, server, length) == 0 && name[length] == '_'));
}

int main(int argc, char **argv)
{
    for (unsigned i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (!is_wanted(requests[i].name, requests[i].label, argc > 1 ? argv[1] : NULL))
            continue;
        for (const char *at = requests[i].name; *at != '\0'; at++)
            putchar(tolower((unsigned char)*at));
        printf(" = %llu\n", requests[i].label);
    }
    return fflush(stdout) != 0;
}
