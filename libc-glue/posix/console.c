/* console.c - isatty, and terminal modes (termios over servers/protocol/console.h). */
#include "file.h"

#include <fcntl.h>
#include <servers/protocol/console.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/termios.h>
#include <tarn/console.h>
#include <unistd.h>

static int64_t is_console(int fd)
{
    return WITH_FILE(fd, file, file->kind == FILE_CONSOLE || file->kind == FILE_DEBUG ? 1 : -ENOTTY);
}

int isatty(int fd)
{
    return LIBC_CALL(ISATTY, fd, 0, is_console(fd)) > 0;
}

int tcgetattr(int fd, struct termios *modes)
{
    int64_t bits = is_console(fd);
    if (bits > 0)
        bits = call_server(SLOT_CONSOLE, CONSOLE_SET_MODE, ~0ull, 0, 0, 0);
    enter_call(TRACE_LIBC_IOCTL, (uint64_t)fd, 0);
    if (leave_call(TRACE_LIBC_IOCTL, bits) < 0)
        return -1;
    memset(modes, 0, sizeof(*modes));
    modes->c_iflag = bits & CONSOLE_CANONICAL ? ICRNL : 0;
    modes->c_oflag = OPOST;
    modes->c_cflag = CS8;
    modes->c_lflag = (bits & CONSOLE_CANONICAL ? ICANON : 0) | (bits & CONSOLE_ECHO ? ECHO : 0) |
                     (bits & CONSOLE_SIGNALS ? ISIG : 0);
    modes->c_cc[VMIN] = 1;
    return 0;
}

int tcsetattr(int fd, int when, const struct termios *modes)
{
    uint64_t bits = (modes->c_lflag & ICANON ? CONSOLE_CANONICAL : 0) |
                    (modes->c_lflag & ECHO ? CONSOLE_ECHO : 0) |
                    (modes->c_lflag & ISIG ? CONSOLE_SIGNALS : 0);
    enter_call(TRACE_LIBC_IOCTL, (uint64_t)fd, bits);
    int64_t result = is_console(fd);
    if (result > 0)
        result = call_server(SLOT_CONSOLE, CONSOLE_SET_MODE, bits, 0, 0, 0);
    return leave_call(TRACE_LIBC_IOCTL, result) < 0 ? -1 : 0;
}

int console_set_foreground(const pid_t *pids, size_t count)
{
    struct shared_buffer shared;
    int64_t result =
        count * sizeof(uint32_t) <= SERVER_BUFFER_BYTES ? borrow_buffer(SLOT_CONSOLE, &shared) : -E2BIG;
    enter_call(TRACE_LIBC_IOCTL, 0, count);
    if (result >= 0) {
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)shared.base)[i] = (uint32_t)pids[i];
        uint64_t span = buffer_span(&shared, 0, count * sizeof(uint32_t));
        result = call_server(SLOT_CONSOLE, CONSOLE_FOREGROUND, span, 0, 0, 0);
        return_buffer(&shared);
    }
    return (int)leave_call(TRACE_LIBC_IOCTL, result);
}

static int64_t control_device(int fd, unsigned long request, void *argument)
{
    if (request == FIONBIO) {
        int flags = fcntl(fd, F_GETFL);
        flags = *(const int *)argument ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
        return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
    }
    int64_t result = is_console(fd);
    if (result < 0 || request != TIOCGWINSZ)
        return result < 0 ? result : -EINVAL;
    /* The size of a serial terminal is unknown. */
    *(struct winsize *)argument = (struct winsize){.ws_row = 24, .ws_col = 80};
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return (int)LIBC_CALL(IOCTL, fd, request, control_device(fd, request, argument));
}
