/*
 * start.c - from the first instruction to main().
 *
 * _start (arch/ARCH/user/crt0.S) calls start_program with the startup block that init or proc left on the
 * stack (struct startup, kernel/abi/tarn/abi.h). Nothing here needs a server: init and proc run it, too.
 */
#include "internal.h"

#include <stdlib.h>
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
