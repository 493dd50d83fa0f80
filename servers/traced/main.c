/* main.c - the trace server: starts the links and handles the requests of programs. */
#include "traced.h"
#include <errno.h>
#include <servers/lib/server.h>
#include <servers/protocol/traced.h>
#include <tarn/runtime.h>
#include <tarn/server.h>

static bool has_rights(cap_t slot, uint32_t type, uint32_t rights)
{
    const int64_t info = slot ? sys_cap_info(slot) : 0;
    return info > 0 && info >> 8 == type && (info & rights) == rights;
}

static int64_t handle(struct server_request *request)
{
    switch (request->label) {
    case TRACED_GOODBYE: /* its holder may switch the machine off */
        if (!has_rights(request->received[0], CAP_MACHINE, RIGHT_MANAGE))
            return -EPERM;
        say_goodbye();
        return 0;
    case TRACED_ADMIT:
        if (!has_rights(request->received[0], CAP_TRACE, RIGHT_READ | RIGHT_WRITE))
            return -EPERM;
        admit_port((uint16_t)request->word[0]);
        return 0;
    default:
        return -ENOSYS;
    }
}

int main(void)
{
    static const struct server server = {.name = "traced", .threads = 1, .handle = handle};
    set_server_patience(SERVER_PATIENCE_NS);
    start_tcp();
    start_serial();
    start_watch();
    server_run(&server, SLOT_SERVICE);
}
