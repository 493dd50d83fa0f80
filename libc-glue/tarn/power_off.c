/* power_off.c - switches the machine off. Interface: tarn/server.h. */
#include <servers/protocol/traced.h>
#include <tarn/server.h>

#define GOODBYE_NS 10000000000ull /* how long traced may delay it */

int64_t power_off(uint32_t status)
{
    struct ipc_message message = {.label = TRACED_GOODBYE, .cap = {SLOT_MACHINE}};
    ipc_call_deadline(SLOT_TRACED, &message, deadline_after(GOODBYE_NS));
    return sys_machine_shutdown(SLOT_MACHINE, status);
}
