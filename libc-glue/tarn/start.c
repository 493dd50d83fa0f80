/*
 * start.c - from the first instruction to main().
 *
 * _start (arch/ARCH/user/crt0.S) calls start_program with the startup block that init or proc left on the
 * stack (struct startup, kernel/abi/tarn/abi.h). Nothing here needs a server: init and proc run it, too.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char **environ;

static const struct startup *startup;

void start_program(const struct startup *from) __attribute__((noreturn));
int main(int argc, char **argv, char **envp);
void __libc_init_array(void);
void __libc_fini_array(void);
void _init(void);
void _fini(void);

/* Called by newlib's array walkers; the arrays contain all constructors. */
void _init(void)
{
}
void _fini(void)
{
}

const struct startup *program_startup(void)
{
    return startup;
}

bool slot_is_filled(cap_t slot)
{
    return sys_cap_info(slot) >= 0;
}

/* ---- the executable --------------------------------------------------------------------------------- */

#define BUILD_ID_BYTES 20

extern const char __executable_start[], __executable_end[], __build_id_note[], __build_id_note_end[];

/* The note that the linker makes. */
struct build_id_note {
    uint32_t name_size, id_size, type;
    char name[4];
    uint8_t id[];
};

/* Exactly BUILD_ID_BYTES, zero-filled, because the kernel reads that many. */
static void copy_build_id(uint8_t id[BUILD_ID_BYTES])
{
    const struct build_id_note *note = (const void *)__build_id_note;
    memset(id, 0, BUILD_ID_BYTES);
    if (__build_id_note_end - __build_id_note < (ptrdiff_t)sizeof(*note) ||
        note->name_size != sizeof(note->name))
        return;
    memcpy(id, note->id, note->id_size < BUILD_ID_BYTES ? note->id_size : BUILD_ID_BYTES);
}

/* Reports the executable to the trace. Fails in a kernel without a trace; the program runs nevertheless. */
static void report_executable(const char *path)
{
    uint8_t id[BUILD_ID_BYTES];
    copy_build_id(id);
    sys_trace_image(path ? path : "", (uint64_t)__executable_start,
                    (uint64_t)(__executable_end - __executable_start), id);
}

void start_program(const struct startup *from)
{
    static char *no_environment[1];
    startup = from;
    init_first_thread(from);
    if (from->magic != STARTUP_MAGIC)
        panic("started without a startup block");
    environ = from->envp ? from->envp : no_environment;
    report_executable(from->path);
    init_working_directory(from->cwd);
    init_files(from);
    atexit(__libc_fini_array);
    __libc_init_array();
    exit(main(from->argc, from->argv, environ));
}
