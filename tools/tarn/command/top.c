/*
 * top.c - `tarn top`: options, keys and the terminal.
 *
 * Full-screen output uses control sequences that all current terminals support. The terminal is restored
 * whenever the program ends, even by a signal, and while it is stopped by Ctrl-Z.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/command/top.h>
#include <tools/tarn/out.h>
#include <tools/tarn/print/print_table.h>
#include <unistd.h>

#define POLL_SECONDS   0.1
#define QUIET_SECONDS  3.0 /* without data: then the screen says so */
#define LOOK_SECONDS   5.0 /* between two looks, at most */
#define WIDTH_BATCH    100u
#define WIDTH_DEFAULT  80u
#define HEIGHT_DEFAULT 24u

const char *const top_sorts[SORTS + 1] = {"running", "ready", "switches", "wakeups", "name"};

/* ---- the terminal ---- */

static const char enter[] = "\033[?1049h\033[?25l", leave[] = "\033[?25h\033[?1049l";
static struct termios before, raw;
static volatile sig_atomic_t is_open, must_end;

static void take(void)
{
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    output_write(STDOUT_FILENO, enter, sizeof(enter) - 1);
    is_open = true;
}

static void give_back(void)
{
    if (!is_open)
        return;
    is_open = false;
    output_write(STDOUT_FILENO, leave, sizeof(leave) - 1);
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

/* Standard input and output must be a terminal. */
static bool open_terminal(struct fail *fail)
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

static void find_size(unsigned *width, unsigned *height)
{
    struct winsize size;
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *width = is_known && size.ws_col != 0 ? size.ws_col : WIDTH_DEFAULT;
    *height = is_known && size.ws_row != 0 ? size.ws_row : HEIGHT_DEFAULT;
}

/* Shows the lines of TEXT, cut to the terminal's width and height. Writes everything at once, to avoid
 * flicker. */
static void show_text(const char *text)
{
    unsigned width, height;
    char *out = NULL;
    size_t length;
    FILE *to = open_memstream(&out, &length);
    find_size(&width, &height);
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
    output_write(STDOUT_FILENO, out, length);
    free(out);
}

/* Waits for at most SECONDS. Returns a character; 0: none, but the size may have changed; -1: end of input.
 */
static int read_key(double seconds)
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

/* ---- output ---- */

static int run_batch(struct top *top)
{
    struct fail fail = {""};
    long done = 0;
    int got = 0;
    while ((top->batch == 0 || done < top->batch) && (got = top->ways->next(top, &fail)) >= 0) {
        if (got == 0) {
            usleep((useconds_t)(POLL_SECONDS * 1e6));
            continue;
        }
        if (done++ != 0 && top->tables.format != TABLES_JSON)
            putchar('\n');
        top->ways->print(stdout, top, WIDTH_BATCH, 0);
        fflush(stdout);
    }
    if (fail.text[0] != '\0')
        return fail_report(&fail, EXIT_DAMAGE);
    top->has_broken = got < 0 && top_link_broke(top);
    return top_status(top);
}

/* Sets the text at the top of the screen. */
static void describe_state(struct top *top)
{
    const double quiet = now_seconds() - top->came;
    const char *broken = top->output != NULL ? "the link broke" : "the link broke: trying again";
    const char *state = top->is_paused    ? "paused"
                        : top->has_broken ? broken
                        : top->is_at_end  ? top->ways->end
                                          : NULL;
    top->state[0] = '\0';
    if (state != NULL)
        snprintf(top->state, sizeof(top->state), "(%s) ", state);
    else if (top_is_live(top) && quiet >= QUIET_SECONDS)
        snprintf(top->state, sizeof(top->state), "(no data for %.0f s) ", quiet);
}

static void draw(struct top *top)
{
    unsigned width, height;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    find_size(&width, &height);
    top->line = NULL;
    describe_state(top);
    if (top->asks_pattern) {
        snprintf(top->asks, sizeof(top->asks), "show names matching (%s): %s_", "*, ?, [a-z]; empty: all",
                 top->input);
        top->line = top->asks;
    } else if (top->has_help) {
        top->line = top->ways->keys;
    }
    if (top->is_connecting)
        fprintf(to, "%s: connecting ... (q quits)\n", top->name);
    else if (top->has_screen)
        top->ways->print(to, top, width, height);
    else
        fprintf(to, "%s%s: waiting for %.1f s ... (q quits)\n", top->state, top->name, top->interval);
    fclose(to);
    show_text(text);
    free(text);
}

static void take_pattern(struct top *top, int key)
{
    size_t length = strlen(top->input);
    if (key == '\n' || key == '\r') {
        snprintf(top->pattern, sizeof(top->pattern), "%s", top->input);
        top->asks_pattern = false;
    } else if (key == 27) {
        top->asks_pattern = false;
    } else if ((key == 127 || key == 8) && length > 0) {
        top->input[length - 1] = '\0';
    } else if (key >= ' ' && key < 127 && length + 1 < sizeof(top->input)) {
        top->input[length] = (char)key;
        top->input[length + 1] = '\0';
    }
}

/* Routines say nothing about them. */
static bool counts_switches(unsigned sort)
{
    return sort == SORT_SWITCHES || sort == SORT_WAKEUPS;
}

/* Returns false to quit. */
static bool take_key(struct top *top, int key)
{
    if (top->asks_pattern) {
        take_pattern(top, key);
        return true;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case 's':
        do
            top->sort = (top->sort + 1) % SORTS;
        while (top->has_routines && counts_switches(top->sort));
        break;
    case 't':
        top->by_thread = !top->by_thread;
        break;
    case 'f':
        top->asks_pattern = true;
        top->input[0] = '\0';
        break;
    case '+':
        top->interval = top->interval < 60 ? 2 * top->interval : top->interval;
        break;
    case '-':
        top->interval = top->interval > 0.01 ? top->interval / 2 : top->interval;
        break;
    case ' ':
        top->is_paused = !top->is_paused;
        break;
    case 'h':
    case '?':
        top->has_help = !top->has_help;
        break;
    }
    return true;
}

/* Shows the next interval if it is due. A finished trace is played back in real time. */
static bool step(struct top *top, double *due, struct fail *fail)
{
    double now = now_seconds();
    int got;
    if (top->is_paused || now < *due)
        return true;
    *due = now + POLL_SECONDS;
    if (top->is_connecting)
        return top_connect(top, fail);
    if (top->has_broken)
        return top_try_again(top, fail);
    got = top->ways->next(top, fail);
    if (top->trace.end != top->end) {
        top->end = top->trace.end;
        top->came = now;
    }
    if (got < 0 && fail->text[0] != '\0')
        return false;
    top->has_broken = got < 0 && top_link_broke(top);
    if (got < 0 && !top->has_broken && !top->has_screen)
        return false;
    top->is_at_end = got < 0; /* the last interval stays on the screen */
    *due = now + (got == 0 ? POLL_SECONDS : top_is_live(top) ? top->interval / 2 : top->interval);
    return true;
}

static int run_terminal(struct top *top)
{
    struct fail fail = {""};
    double due = 0;
    int key = 0;
    bool goes_on = true;
    if (!open_terminal(&fail))
        return fail_report(&fail, EXIT_USAGE);
    while (goes_on && step(top, &due, &fail)) {
        const double left = top->is_paused ? LOOK_SECONDS : due - now_seconds();
        draw(top);
        key = read_key(left < LOOK_SECONDS ? left : LOOK_SECONDS);
        goes_on = key >= 0 && take_key(top, key);
    }
    give_back();
    return fail.text[0] == '\0' ? top_status(top) : fail_report(&fail, EXIT_DAMAGE);
}

/* ---- options ---- */

static bool set_pattern(void *context, const struct command_option *option, const char *value,
                        struct fail *fail)
{
    struct top *top = context;
    snprintf(top->pattern, sizeof(top->pattern), "%s", value);
    return strlen(value) < sizeof(top->pattern) ||
           fail_set(fail, "at most %zu characters are allowed", sizeof(top->pattern) - 1);
}

static const struct command_option known[] = {
    {REAL("interval", "SEC", struct top, interval, 0.000001, 3600,
          "refresh every SEC seconds (2); the numbers cover that time")},
    {REAL("at", "TIME", struct top, at, 0, 1e9, "start TIME seconds after the start of the trace")},
    {REAL("batch", "N", struct top, batch, 0, 1e9, "print N intervals as text, then end; 0: all")},
    {WORD("sort", "KEY", struct top, sort, top_sorts,
          "running (the default), ready, switches, wakeups, name")},
    {FLAG("threads", struct top, by_thread, "show threads instead of processes")},
    {CALL("filter", "PATTERN", set_pattern,
          "show only processes or threads whose name matches; the second line shows the pattern")},
    {FLAG("routines", struct top, has_routines,
          "show what processes do with their time: system calls, faults, IPC calls, each kind of wait\nFrom "
          "counted routines (tarn-routines(1)): no trace is pulled, and nothing need be traced"),
     .with = "interval,batch,json,csv,top,sort,filter"},
    {TEXT("output", "DIR", struct top, output,
          "keep the trace of a SOURCE in DIR (default: delete it at the end)"),
     .letter = 'o'},
    {.name = NULL}};

/* On a terminal, the screen is shown while the source connects. */
static bool start(struct top *top, struct fail *fail)
{
    if (top->has_routines)
        return true;
    if (!top->is_source)
        return top_begin(top, fail);
    top->is_connecting = top->batch < 0;
    top->log = top->is_connecting ? tmpfile() : NULL;
    return top_launch(top, fail) &&
           (top->is_connecting || (puller_wait(&top->puller, top->name, fail) && top_begin(top, fail)));
}

static int run_top(int argc, char **argv)
{
    struct top *top = alloc_zero(1, sizeof(*top));
    struct fail fail;
    int status;
    top->interval = 2;
    top->at = -1;
    top->batch = -1;
    top->tables.top = TABLE_TOP_DEFAULT;
    status = command_parse(&top_command, (void *[]){top, &top->tables}, argc, argv);
    if (status >= 0) {
        free(top);
        return status;
    }
    if (top->tables.format != TABLES_TEXT && top->batch < 0)
        top->batch = 0;
    top->name = argv[optind];
    top->is_source = is_source(top->name);
    top->ways = top->has_routines ? &top_of_routines : &top_of_trace;
    if (top->has_routines && counts_switches(top->sort))
        status = complain_of_words(&top_command, "--routines sorts by running, ready or name");
    else if (!start(top, &fail))
        status = fail_report(&fail, EXIT_DAMAGE);
    else
        status = top->batch >= 0 ? run_batch(top) : run_terminal(top);
    puller_stop(&top->puller);
    if (top->log != NULL) { /* held back while the screen was in use */
        rewind(top->log);
        for (int byte; (byte = getc(top->log)) != EOF;)
            fputc(byte, stderr);
        fclose(top->log);
    }
    top_close(top);
    free(top);
    return status;
}

const struct command top_command =
    COMMAND("top", "show what a running guest does, refreshed in the terminal",
            "[OPTION]... SOURCE|DIRECTORY\n--routines [OPTION]... SOURCE", 1, 1, run_top, NULL, {NULL, known},
            {"Output of --batch", table_options + TABLE_OPTION_TOP});
