/* terminal.c - full-screen output, and restoring the terminal; see terminal.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <tools/tarn/top/terminal.h>
#include <unistd.h>

#define WIDTH_DEFAULT  80u
#define HEIGHT_DEFAULT 24u

static const char enter[] = "\033[?1049h\033[?25l", leave[] = "\033[?25h\033[?1049l";
static struct termios before, raw;
static volatile sig_atomic_t is_open, must_end;

/* Async-signal-safe. */
static void put(const char *text, size_t length)
{
    while (length > 0) {
        ssize_t done = write(STDOUT_FILENO, text, length);
        if (done < 0 && errno != EINTR)
            return;
        text += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
}

static void take(void)
{
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    put(enter, sizeof(enter) - 1);
    is_open = true;
}

static void give_back(void)
{
    if (!is_open)
        return;
    is_open = false;
    put(leave, sizeof(leave) - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

static void note_end(int number)
{
    must_end = true;
}

static void note_size(int number)
{
}

/* The default action follows, because the handler was installed with SA_RESETHAND. */
static void die(int number)
{
    give_back();
    raise(number);
}

static void pause_here(int number)
{
    int error = errno;
    give_back();
    kill(getpid(), SIGSTOP);
    take();
    errno = error;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

bool terminal_open(struct fail *fail)
{
    static const int deadly[] = {SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return fail_set(fail, "not a terminal; use --batch");
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_oflag &= ~(tcflag_t)OPOST;
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    atexit(give_back);
    for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
        handle(deadly[i], die, (int)SA_RESETHAND);
    handle(SIGINT, note_end, 0);
    handle(SIGTERM, note_end, 0);
    handle(SIGHUP, note_end, 0);
    handle(SIGTSTP, pause_here, 0);
    handle(SIGWINCH, note_size, 0);
    must_end = false;
    take();
    return true;
}

void terminal_close(void)
{
    give_back();
}

void terminal_size(unsigned *width, unsigned *height)
{
    struct winsize size;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *width = is_known && size.ws_col != 0 ? size.ws_col : WIDTH_DEFAULT;
    *height = is_known && size.ws_row != 0 ? size.ws_row : HEIGHT_DEFAULT;
}

/* Writes everything at once, to avoid flicker. */
void terminal_draw(const char *text)
{
    unsigned width, height;
    char *out = NULL;
    size_t length;
    FILE *to = open_memstream(&out, &length);
    terminal_size(&width, &height);
    fputs("\033[H", to);
    for (unsigned line = 0; line < height && *text != '\0'; line++) {
        size_t end = strcspn(text, "\n"), shown = 0;
        for (unsigned used = 0; shown < end; shown++) /* counts characters, not bytes */
            if (((unsigned char)text[shown] & 0xc0) != 0x80 && used++ == width)
                break;
        fprintf(to, "%s%.*s\033[K", line != 0 ? "\r\n" : "", (int)shown, text);
        text += end + (text[end] == '\n');
    }
    fputs("\033[J", to);
    fclose(to);
    put(out, length);
    free(out);
}

int terminal_key(double seconds)
{
    struct pollfd poll_for = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char key;
    if (must_end)
        return -1;
    if (poll(&poll_for, 1, seconds > 0 ? (int)(seconds * 1000) + 1 : 0) > 0) {
        if (read(STDIN_FILENO, &key, 1) == 1)
            return key;
        if (poll_for.revents & (POLLHUP | POLLERR))
            return -1;
    }
    return must_end ? -1 : 0;
}
