/* trace/event/register.c - registers an application's schema with the kernel; see schema.h. */
#include <tarn/syscall.h>
#include <trace/event/schema.h>

int trace_register_schema(const struct trace_schema *schema)
{
    int64_t number = sys_trace_register(schema->descriptor, schema->descriptor->bytes, schema->uuid);
    if (number < 0)
        return (int)number;
    /* Threads that log meanwhile read the old or the new number; both are correct. */
    __atomic_store_n(schema->class_number, (uint32_t)number, __ATOMIC_RELAXED);
    return 0;
}
