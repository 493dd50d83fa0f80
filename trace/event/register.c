/* SPDX-License-Identifier: BSD-2-Clause */
/* trace/event/register.c - registers an application's schema with the kernel; see schema.h. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <tarn/error.h>
#include <tarn/syscall.h>
#include <trace/event/schema.h>

/* Whether `trace bench` runs this program. Programs that it starts need not measure again. */
static bool is_measured(void)
{
    static bool is_asked;
    if (getenv(TRACE_BENCH_VARIABLE)) {
        is_asked = true;
        unsetenv(TRACE_BENCH_VARIABLE);
    }
    return is_asked;
}

static void measure(const struct trace_schema *schema)
{
    const char *name = trace_descriptor_text(schema->descriptor, schema->descriptor->class_name);
    int error = trace_bench_schema(schema);
    if (error == -E_UNSUPPORTED)
        fprintf(stderr,
                "trace bench: class %s was not measured: $(call event_dummies,...) is missing in the "
                "program's sources\n",
                name);
    else if (error)
        fprintf(stderr, "trace bench: class %s was not measured: %s\n", name, tarn_error_text(error));
}

int trace_register_schema(const struct trace_schema *schema)
{
    int64_t number = sys_trace_register(schema->descriptor, schema->descriptor->bytes, schema->uuid);
    if (number < 0)
        return (int)number;
    /* Threads that log meanwhile read the old or the new number; both are correct. */
    __atomic_store_n(schema->class_number, (uint32_t)number, __ATOMIC_RELAXED);
    if (is_measured())
        measure(schema);
    return 0;
}
