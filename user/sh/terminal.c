/* terminal.c - tells the console when the shell edits lines itself, and which processes Ctrl-C kills. */
#include <sys/termios.h>
#include <tarn/console.h>
#include <unistd.h>

#include <user/sh/sh.h>

static bool is_terminal(void)
{
    static int known = -1;
    if (known < 0)
        known = isatty(0);
    return known;
}

bool terminal_set_raw(bool raw)
{
    static struct termios cooked;
    struct termios modes;
    if (!is_terminal() || tcgetattr(0, &modes) < 0)
        return false;
    if (raw) {
        cooked = modes;
        modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
    }
    return tcsetattr(0, TCSANOW, raw ? &modes : &cooked) == 0;
}

void terminal_set_foreground(const pid_t *pids, size_t count)
{
    if (is_terminal())
        console_set_foreground(pids, count);
}
