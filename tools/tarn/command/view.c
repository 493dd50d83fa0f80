/* view.c - `tarn view`: shows a trace as a page in the browser, or draws it as a PNG. */
#include <signal.h>
#include <tools/tarn/command/commands.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/read/filter.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/draw.h>
#include <tools/tarn/view/puller.h>
#include <unistd.h>

struct options {
    struct view_options view;
    uint64_t port;
    double from, to; /* seconds; -1: not given */
    unsigned open;   /* OPEN_ */
    bool may_goto;
    struct draw_options draw;
    const char *source, *output;
};

enum { OPEN_YES, OPEN_NO, OPEN_IF_DISPLAY };
static const char *const open_words[] = {"yes", "no", NULL};

static volatile sig_atomic_t interrupted, is_debugging;

/* While a debugger has the terminal, Ctrl-C belongs to it. */
static void note_interrupt(int number)
{
    if (number != SIGINT || !is_debugging)
        interrupted = 1;
}

static bool set_size(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    struct draw_options *draw = context;
    char *end;
    unsigned long width = strtoul(value, &end, 10), height = *end == 'x' ? strtoul(end + 1, &end, 10) : 0;
    draw->width = (uint32_t)width;
    draw->height = (uint32_t)height;
    return (*end == '\0' && width >= 400 && width <= LANES_WIDTH_MAX && height >= 200 &&
            height <= DRAW_SIDE_MAX) ||
           fail_set(fail, "expected a size such as 1600x900, from 400x200 to %ux%u", LANES_WIDTH_MAX,
                    DRAW_SIDE_MAX);
}

static bool set_tids(void *context, const struct command_option *option, const char *value, struct fail *fail)
{
    ((struct draw_options *)context)->tids = value;
    return list_is_valid(value) || fail_set(fail, "expected a list of numbers such as 3,7-9");
}

static bool allow_goto(void *context, const struct command_option *option, const char *value,
                       struct fail *fail)
{
    ((struct options *)context)->may_goto = true;
    return isatty(STDIN_FILENO) || fail_set(fail, "gdb needs a terminal, but standard input is not one");
}

static const struct command_option known[] = {
    {COUNT("port", "N", struct options, port, 0, 65535, "listen on port N (default: any free port)")},
    {REAL("from", "TIME", struct options, from, 0, 1e9,
          "begin of the range to show first, in seconds since the start of the trace\nThe default is the "
          "shortest range with 98 % of the events, which leaves out boot and waiting")},
    {REAL("to", "TIME", struct options, to, 0, 1e9, "end of that range")},
    {WORD("open", "yes|no", struct options, open, open_words,
          "open the page in a browser (default: if there is a display)")},
    {CALL("goto", NULL, allow_goto,
          "let the page run `tarn goto` for an event, in this terminal\nUntil gdb ends, Ctrl-C goes to gdb")},
    {TEXT("output", "DIR", struct options, output,
          "keep the trace of a SOURCE in DIR (default: delete it at the end)"),
     .letter = 'o'},
    {TEXT("symbols", "DIR[:DIR]", struct options, view.symbols,
          "search for the trace's executables here, by build-id\nThe profile, locks and faults of a range "
          "use them (tarn-analyses(1))")},
    {TEXT("png", "FILE", struct options, draw.file,
          "draw the range into FILE, and end: a PNG, or an SVG if its name ends in .svg")},
    {.name = NULL}};
static const struct command_option known_of_drawing[] = {
    {CALL("size", "WIDTHxHEIGHT", set_size, "size of the picture in pixels (1600x900)")},
    {COUNT("threads", "N", struct draw_options, threads, 0, 1e6,
           "draw the N threads that ran longest (as many as fit)")},
    {CALL("tid", "LIST", set_tids, "draw these threads")},
    {TEXT("mark", "PATTERNS", struct draw_options, marks, "mark events with these names, at most 8 types")},
    {FLAG("dark", struct draw_options, is_dark, "use a dark background")},
    {.name = NULL}};

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
    if (options->open == OPEN_NO || (options->open == OPEN_IF_DISPLAY && !has_display))
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

/* Starts `tarn goto` if the page requests it, and notices its end. */
static pid_t follow_goto(struct view *view, pid_t running)
{
    if (running > 0 && !child_has_ended(running))
        return running;
    if (running > 0)
        view->goto_event = GOTO_FREE;
    running = 0;
    if (view->goto_event < GOTO_FORBIDDEN) {
        char number[PUT_NUMBER_MAX + 1],
            *words[] = {"/proc/self/exe", "goto", (char *)view->options.directory, number, NULL};
        *put_unsigned(number, view->goto_event) = '\0';
        fprintf(stderr, "tarn goto %s %s\n", words[2], number);
        running = child_start(words, -1, SIGTERM);
    }
    if (running < 0) {
        complain("cannot start tarn goto");
        view->goto_event = GOTO_FREE;
    }
    is_debugging = running > 0;
    return running;
}

/* The guest was reset, or the link broke: the view goes on with the next boot. */
static bool follow_next(const struct options *options, struct view *view, struct puller *puller)
{
    if (options->source == NULL || interrupted || !puller_again(puller, options->source, options->output))
        return false;
    view->pulls++;
    if (options->output != NULL)
        view->next_directory = strdup(puller->directory); /* the view keeps it */
    return true;
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
    view->goto_event = options->may_goto ? GOTO_FREE : GOTO_FORBIDDEN;
    server = server_start(view, (unsigned)options->port, &fail);
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
        view->has_source = puller_runs(puller) || follow_next(options, view, puller);
        running = follow_goto(view, running);
    }
    if (running > 0) {
        kill(running, SIGTERM);
        child_wait(running);
    }
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

static int write_png(struct options *options, struct view *view)
{
    struct losses losses;
    struct fail fail;
    bool ok;
    view_read_lock(view);
    choose_range(options, view);
    ok = draw_picture(view, &options->draw, &fail);
    view_losses(view, &losses);
    view_unlock(view);
    losses_summary(&losses);
    losses_durations(&losses);
    return ok ? losses_status(&losses) : fail_report(&fail, EXIT_USAGE);
}

static int show(struct options *options, struct puller *puller)
{
    struct view view;
    struct fail fail;
    char lacks[800];
    bool is_png = options->draw.file != NULL;
    sigset_t ours, signals;
    int status;
    if (!view_open(&view, &options->view, is_png, &fail))
        return fail_report(&fail, EXIT_DAMAGE);
    if (!puller_runs(puller))
        view_judge(&view, false);
    if (is_png) {
        status = write_png(options, &view);
    } else {
        /* The page itself shows losses and damage. */
        if (model_lacks(&view.trace.schema, false, lacks, sizeof(lacks)))
            complain("%s", lacks);
        /* until sigsuspend, so that none is missed; threads inherit this */
        sigemptyset(&ours);
        sigaddset(&ours, SIGINT);
        sigaddset(&ours, SIGTERM);
        sigaddset(&ours, SIGCHLD);
        sigprocmask(SIG_BLOCK, &ours, &signals);
        view.has_source = puller_runs(puller);
        status = view_start(&view, &fail) ? serve(options, &view, puller, &signals)
                                          : fail_report(&fail, EXIT_USAGE);
    }
    view_close(&view);
    return status;
}

static int run_view(int argc, char **argv)
{
    struct options options = {.from = -1,
                              .to = -1,
                              .open = OPEN_IF_DISPLAY,
                              .draw = {.width = 1600, .height = 900, .threads = UINT64_MAX}};
    struct puller puller = {0};
    struct fail fail;
    int status = command_parse(&view_command, (void *[]){&options, &options.draw}, argc, argv);
    if (status >= 0)
        return status;
    options.view.directory = argv[optind];
    if (is_source(options.view.directory)) {
        if (!puller_launch(&puller, options.view.directory, options.output, &fail) ||
            !puller_wait(&puller, options.view.directory, &fail))
            return fail_report(&fail, EXIT_USAGE);
        options.view.name =
            options.output == NULL ? options.view.directory : NULL; /* a temporary directory is not a name */
        options.source = options.view.directory;
        options.view.directory = options.output != NULL ? options.output : puller.directory;
    }
    status = show(&options, &puller);
    puller_stop(&puller);
    return status;
}

const struct command view_command = COMMAND("view", VIEW_SUMMARY, "[OPTION]... DIRECTORY|SOURCE", 1, 1,
                                            run_view, NULL, {NULL, known}, {"With --png", known_of_drawing});
