/*
 * requestgen.c - generates the names of requests, by which the trace shows message labels.
 *
 *     requestgen [SERVER]     prints lines `name = number`, for `enum ... from "requests"` of trace/schema;
 *                             with SERVER: its own requests and those that every server understands
 *
 * The build lists the protocol headers (PROTOCOLS) and the constants in them (REQUEST_NAMES, one
 * REQUEST(NAME) a line); the compiler supplies the values. Labels from SERVER_LABEL_COMMON are common to all
 * servers. A request outside the range that servers.def gives its server fails the build.
 */
#include PROTOCOLS /* every servers/protocol/NAME.h */
#include <ctype.h>
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

static const struct {
    const char *prefix;
    unsigned long long labels;
} servers[] = {
#define SERVER(NAME, program, labels, flags, device) {#NAME "_", labels},
#include <servers/protocol/servers.def>
};

/* Whether the label is in the range of the server that its name begins with. */
static int is_in_range(const char *name, unsigned long long label)
{
    if (strncmp(name, "SERVER_", 7) == 0)
        return label >= SERVER_LABEL_COMMON && label < SERVER_LABEL_MIN;
    if (label < SERVER_LABEL_MIN || label >= IPC_LABEL_PAGE)
        return 1;
    for (unsigned i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
        if (strncmp(name, servers[i].prefix, strlen(servers[i].prefix)) == 0)
            return label >= servers[i].labels && label < servers[i].labels + 0x100;
    return 0;
}

/* `server` NULL: all servers. */
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
        if (!is_in_range(requests[i].name, requests[i].label)) {
            fprintf(stderr,
                    "servers/protocol: %s = %#llx: label outside the server's range: see "
                    "servers/protocol/servers.def\n",
                    requests[i].name, requests[i].label);
            return 1;
        }
        if (!is_wanted(requests[i].name, requests[i].label, argc > 1 ? argv[1] : NULL))
            continue;
        for (const char *at = requests[i].name; *at != '\0'; at++)
            putchar(tolower((unsigned char)*at));
        printf(" = %llu\n", requests[i].label);
    }
    return fflush(stdout) != 0;
}
