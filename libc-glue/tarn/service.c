/* service.c - services, registered with proc (tarn/service.h); switching the machine off (tarn/server.h). */
#include <errno.h>
#include <string.h>

#include <servers/protocol/proc.h>
#include <servers/protocol/traced.h>
#include <tarn/server.h>
#include <tarn/service.h>

static int64_t call_proc(struct ipc_message *message, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= PROC_SERVICE_NAME_BYTES)
        return -EINVAL;
    memcpy(message->word, name, length);
    return call_server_message(SLOT_PROC, message);
}

/* proc can pass on only the right to send. */
int service_publish(const char *name, cap_t endpoint)
{
    int64_t copy = sys_cap_copy(SLOT_SPACE, endpoint, 0, RIGHT_SEND | RIGHT_GRANT, 0);
    if (copy < 0)
        return -EINVAL;
    struct ipc_message message = {.label = PROC_PUBLISH, .cap = {(uint16_t)copy}};
    int result = (int)call_proc(&message, name);
    sys_cap_close((cap_t)copy);
    return result;
}

int64_t service_connect(const char *name, uint64_t deadline)
{
    struct ipc_message message = {.label = PROC_CONNECT, .word = {[4] = deadline}};
    int64_t result = call_proc(&message, name);
    return result < 0 ? result : message.cap[0];
}

#define GOODBYE_NS 10000000000ull /* how long traced may delay it */

int64_t power_off(uint32_t status)
{
    struct ipc_message message = {.label = TRACED_GOODBYE, .cap = {SLOT_MACHINE}};
    ipc_call_deadline(SLOT_TRACED, &message, deadline_after(GOODBYE_NS));
    return sys_machine_shutdown(SLOT_MACHINE, status);
}
