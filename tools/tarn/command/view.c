/* SPDX-License-Identifier: BSD-2-Clause */
/* view.c - `tarn view`: shows a trace as a page in the browser, or draws it as a PNG. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/options.h>
#include <tools/tarn/out.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/draw.h>
#include <tools/tarn/view/puller.h>
#include <tools/tarn/view/server.h>
#include <unistd.h>

static const char help[] =
    "Shows a trace in the browser: serves a page on the loopback address until Ctrl-C, and opens it. A\n"
    "trace that is still being written is shown as it grows. A SOURCE, as for `tarn pull` (tcp:HOST:PORT,\n"
    "serial:PATH, ram:FILE, ...), is shown while it is pulled.\n"
    "\n"
    "  --port N            listen on port N; default: any free port\n"
    "  --from TIME         range to show first, in seconds since the start of the trace; default: the\n"
    "  --to TIME           shortest range with 98 % of the events, without boot and waiting\n"
    "  --open yes|no       open the page in a browser (default: if there is a display)\n"
    "  --goto              let the page run `tarn goto` for an event, in this terminal\n"
    "  -o, --output DIR    keep the trace of a SOURCE in DIR; default: delete it at the end\n"
    "  --symbols DIR[:DIR] search for the trace's executables here, by build-id\n"
    "  --png FILE          draw the range into FILE and end, with these options:\n"
    "  --size WIDTHxHEIGHT size of the picture in pixels (1600x900)\n"
    "  --threads N         draw the N threads that ran longest (as many as fit)\n"
    "  --tid LIST          draw these threads\n"
    "  --mark PATTERNS     mark events with these names, at most 8 types\n"
    "  --dark              use a dark background\n"
    "  --help              print this help\n";

struct options {
    struct view_options view;
    unsigned port;
    double from, to; /* seconds; -1: not given */
    int open;        /* 0, 1, or -1: if there is a display */
    bool may_goto;
    struct draw_options draw;
    const char *output;
};

static volatile sig_atomic_t interrupted, is_debugging;

/* While a debugger has the terminal, Ctrl-C belongs to it. */
static void note_interrupt(int number)
{
    if (number != SIGINT || !is_debugging)
        interrupted = 1;
}

static bool parse_size(const char *text, struct draw_options *draw)
{
    char *end;
    unsigned long width = strtoul(text, &end, 10), height = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;

    draw->width = (uint32_t)width;
    draw->height = (uint32_t)height;
    return *end == '\0' && width >= 400 && width <= LANES_WIDTH_MAX && height >= 200 &&
           height <= DRAW_SIDE_MAX;
}

static bool set_option(void *context, int option, const char *value, struct fail *fail)
{
    struct options *options = context;
    double number;

    switch (option) {
    case 'p':
        if (!option_real(value, 0, 65535, &number, fail))
            return false;
        options->port = (unsigned)number;
        return true;
    case 'f':
        return option_real(value, 0, 1e9, &options->from, fail);
    case 't':
        return option_real(value, 0, 1e9, &options->to, fail);
    case 'b':
        options->open = strcmp(value, "yes") == 0;
        return options->open || strcmp(value, "no") == 0 || fail_set(fail, "expected yes or no");
    case 'g':
        options->may_goto = true;
        return isatty(STDIN_FILENO) || fail_set(fail, "gdb needs a terminal, but standard input is not one");
    case 'o':
        options->output = value;
        return true;
    case 'P':
        options->draw.file = value;
        return true;
    case 's':
        return parse_size(value, &options->draw) ||
               fail_set(fail, "expected a size such as 1600x900, from 400x200 to %ux%u", LANES_WIDTH_MAX,
                        DRAW_SIDE_MAX);
    case 'T':
        if (!option_real(value, 0, 1e6, &number, fail))
            return false;
        options->draw.threads = (uint32_t)number;
        return true;
    case 'i':
        options->draw.tids = value;
        return list_is_valid(value) || fail_set(fail, "expected a list of numbers such as 3,7-9");
    case 'm':
        options->draw.marks = value;
        return true;
    case 'S':
        options->view.symbols = value;
        return true;
    case 'd':
        options->draw.is_dark = true;
        return true;
    default:
        return false;
    }
}

static const struct option known[] = {{"port", required_argument, NULL, 'p'},
                                      {"from", required_argument, NULL, 'f'},
                                      {"to", required_argument, NULL, 't'},
                                      {"open", required_argument, NULL, 'b'},
                                      {"output", required_argument, NULL, 'o'},
                                      {"png", required_argument, NULL, 'P'},
                                      {"size", required_argument, NULL, 's'},
                                      {"threads", required_argument, NULL, 'T'},
                                      {"tid", required_argument, NULL, 'i'},
                                      {"mark", required_argument, NULL, 'm'},
                                      {"dark", no_argument, NULL, 'd'},
                                      {"symbols", required_argument, NULL, 'S'},
                                      {"goto", no_argument, NULL, 'g'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};
static const struct command_line line = {.words = "[OPTION]... DIRECTORY|SOURCE",
                                         .help = help,
                                         .known = known,
                                         .letters = "o:",
                                         .least = 1,
                                         .most = 1,
                                         .take = set_option};

/* Formats the page's address; the part after # is the initial range. */
static void format_address(const struct options *options, const struct view *view, unsigned port,
                           char text[200])
{
    double duration = (double)view_duration(view) * 1e-9;
    int length = snprintf(text, 200, "http://127.0.0.1:%u/", port);

    if (options->from >= 0 || options->to >= 0)
        snprintf(text + length, 200 - (size_t)length, "#from=%.0f&to=%.0f",
                 (options->from >= 0 ? options->from : 0) * 1e9,
                 (options->to >= 0 ? options->to : duration) * 1e9);
}

static void open_browser(const struct options *options, const char *address, const sigset_t *signals)
{
    bool has_display = getenv("DISPLAY") != NULL || getenv("WAYLAND_DISPLAY") != NULL;

    if (options->open == 0 || (options->open < 0 && !has_display))
        return;
    if (fork() == 0) {
        sigprocmask(SIG_SETMASK, signals, NULL);
        execlp("xdg-open", "xdg-open", address, NULL);
        _exit(127);
    }
}

static void note_child(int number)
{
}

/* Blocks signals until sigsuspend, so that none is missed. Threads inherit this. */
static void block_signals(sigset_t *before)
{
    sigset_t ours;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, before);
}

/* Reports missing events. The page itself shows losses and damage. */
static void tell_lacks(const struct view *view)
{
    struct losses losses;

    view_losses(view, &losses);
    if (losses.lacks[0] != '\0')
        complain("%s", losses.lacks);
}

static pid_t start_goto(const struct view *view)
{
    char number[PUT_NUMBER_MAX + 1];

    *put_unsigned(number, view->goto_event) = '\0';
    fprintf(stderr, "tarn goto %s %s\n", view->options.directory, number);
    return child_start((char *[]){"/proc/self/exe", "goto", (char *)view->options.directory, number, NULL},
                       -1, SIGTERM);
}

/* Starts `tarn goto` if the page requests it, and notices its end. */
static pid_t follow_goto(struct view *view, pid_t running)
{
    if (running > 0 && !child_has_ended(running))
        return running;
    if (running > 0)
        view->goto_state = GOTO_FREE;
    running = view->goto_state == GOTO_WANTED ? start_goto(view) : 0;
    if (running < 0) {
        complain("cannot start tarn goto");
        view->goto_state = GOTO_FREE;
    }
    is_debugging = running > 0;
    return running;
}

static void end_goto(pid_t running)
{
    if (running > 0) {
        kill(running, SIGTERM);
        child_wait(running);
    }
}

static int serve(const struct options *options, struct view *view, struct puller *puller,
                 const sigset_t *signals)
{
    struct sigaction action = {.sa_handler = note_interrupt}, child = {.sa_handler = note_child};
    struct server *server;
    struct fail fail;
    char address[200];
    pid_t running = 0; /* `tarn goto` */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGCHLD, &child, NULL);
    view->goto_state = options->may_goto ? GOTO_FREE : GOTO_FORBIDDEN;
    server = server_start(view, options->port, &fail);
    if (server == NULL) {
        complain("%s", fail.text);
        view_stop(view);
        return EXIT_USAGE;
    }
    format_address(options, view, server_port(server), address);
    printf("%s\n", address);
    fflush(stdout);
    open_browser(options, address, signals);
    while (!interrupted) {
        sigsuspend(signals);
        view->has_source = puller_runs(puller);
        running = follow_goto(view, running);
    }
    end_goto(running);
    view_stop(view); /* first, so that no request waits for changes */
    server_stop(server);
    return EXIT_OK;
}

/* Chooses the range as the page does: the requested one, or the busiest. */
static void choose_range(struct options *options, const struct view *view)
{
    uint64_t from = view->index.begin, to = view->index.end;

    if (options->from < 0 && options->to < 0)
        index_find_busy(&view->index, &from, &to);
    options->draw.from = options->from >= 0 ? (uint64_t)(options->from * 1e9) : view_ns(view, from);
    options->draw.to = options->to >= 0 ? (uint64_t)(options->to * 1e9) : view_ns(view, to);
    if (options->draw.to > view_duration(view))
        options->draw.to = view_duration(view);
}

/* A partial packet at the end is damage, unless the trace IS_WRITING. */
static int write_png(struct options *options, struct view *view, bool is_writing)
{
    struct losses losses;
    struct fail fail;
    bool fine;

    view_read_lock(view);
    choose_range(options, view);
    fine = draw_png(view, &options->draw, &fail);
    view_losses(view, &losses);
    losses.damaged += is_writing ? 0 : trace_count_partial(&view->trace);
    view_unlock(view);
    losses_summary(&losses);
    if (!fine)
        complain("%s", fail.text);
    return fine ? losses_status(&losses) : EXIT_USAGE;
}

static int show(struct options *options, struct puller *puller)
{
    struct view view;
    struct fail fail;
    bool is_png = options->draw.file != NULL;
    sigset_t signals;
    int status;

    if (!view_open(&view, &options->view, is_png, &fail)) {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    if (!puller_runs(puller))
        view_judge(&view);
    if (is_png) {
        status = write_png(options, &view, puller_runs(puller));
    } else {
        tell_lacks(&view);
        block_signals(&signals);
        view.has_source = puller_runs(puller);
        if (view_start(&view, &fail)) {
            status = serve(options, &view, puller, &signals);
        } else {
            complain("%s", fail.text);
            status = EXIT_USAGE;
        }
    }
    view_close(&view);
    return status;
}

int run_view(int argc, char **argv)
{
    struct options options = {.view = {.watch = true, .keep_index = true},
                              .from = -1,
                              .to = -1,
                              .open = -1,
                              .draw = {.width = 1600, .height = 900, .threads = UINT32_MAX}};
    struct puller puller = {0};
    struct fail fail;
    int status = take_command_line(&line, &options, argc, argv);

    if (status >= 0)
        return status;
    options.view.directory = argv[optind];
    if (is_source(options.view.directory)) {
        if (!puller_start(&puller, options.view.directory, options.output, &fail)) {
            complain("%s", fail.text);
            return EXIT_USAGE;
        }
        options.view.name =
            options.output == NULL ? options.view.directory : NULL; /* a temporary directory is not a name */
        options.view.directory = puller.directory;
    }
    status = show(&options, &puller);
    puller_stop(&puller);
    return status;
}
