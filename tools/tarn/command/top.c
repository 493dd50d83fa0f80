/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/command/top.c - `tarn top`: what a running guest does, refreshed; or a trace, interval by
 * interval.
 *
 * A guest is pulled from by a process of its own (view/puller.h) into a directory that is followed as any
 * trace that grows. What is shown ends a little before its newest packets: by then those of all processors
 * have come.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tools/tarn/options.h>
#include <tools/tarn/source/source.h>
#include <tools/tarn/top/interval.h>
#include <tools/tarn/top/screen.h>
#include <tools/tarn/top/terminal.h>
#include <tools/tarn/view/puller.h>
#include <unistd.h>

#define LAG_SECONDS   1.3 /* traced sends packets that are not full after a second */
#define POLL_SECONDS  0.1
#define OLD_SECONDS   1.0 /* that it has for what its buffers held when we came */
#define QUIET_SECONDS 3.0 /* in which nothing comes: then the screen says so */
#define WIDTH_BATCH   100u
#define PATTERN_BYTES 64u

static const char help[] =
    "What a running guest does, refreshed in the terminal: processors, processes or threads by the time "
    "that\n"
    "they ran, system calls, IPC, locks. SOURCE is as `tarn pull` takes it (tcp:HOST:PORT, serial:PATH,\n"
    "ram:FILE); a trace's DIRECTORY is followed while it is written, and otherwise walked through from its\n"
    "begin on.\n\n"
    "  --interval SEC   refresh so often (default 2); of that time the numbers are\n"
    "  --at TIME        begin there: seconds since the trace's start\n"
    "  --batch N        print N intervals as text, then end; 0: all\n"
    "  --json           an interval as a JSON object on a line, not as text\n"
    "  --csv            as comma-separated values\n"
    "  --top N          of these at most N rows of each table\n"
    "  --sort KEY       running (default), ready, switches, wakeups, name\n"
    "  --threads        threads, not processes\n"
    "  --filter PATTERN only processes or threads of this name\n"
    "  -o, --output DIR keep the trace of a SOURCE there\n"
    "  --help           this text\n\n"
    "Keys: q ends; s sorts by the next column; t changes between threads and processes; f asks for a\n"
    "pattern of names, an empty one is all; + and - double and halve the interval; space pauses; h says\n"
    "this, too. Counts are by second, times in percent of one processor.\n";
static const char keys_help[] =
    "q end  s sort  t threads/processes  f filter  +/- interval  space pause  h no help";

struct top {
    const char *name, *output;
    double interval, at;       /* seconds; at < 0: not given */
    long batch;                /* -1: a terminal; 0: to the end */
    enum answer_format format; /* of a batch */
    uint64_t rows;             /* of its tables; 0: all */
    struct puller puller;
    bool is_source, has_help, asks_pattern, is_paused, is_at_end, is_connecting;
    bool has_broken; /* the link: what is shown is what came before */
    FILE *log;       /* what the pull says while the screen is ours; NULL: standard error */
    double came;     /* now_seconds: when the trace last grew, to END */
    uint64_t end;
    char state[64];
    double old_until; /* now_seconds: up to then what comes is old; 0: nothing has come */
    char pattern[PATTERN_BYTES], input[PATTERN_BYTES], line[PATTERN_BYTES + 64];
    struct trace trace;
    bool is_open;
    struct intervals intervals;
    struct screen screen;
    bool has_screen;
};

/* ---- the trace ---- */

static void forget_screen(struct top *top)
{
    for (unsigned i = 0; i < SCREEN_ANSWERS; i++)
        if (top->screen.answers[i] != NULL)
            answer_free(top->screen.answers[i]);
    memset(top->screen.answers, 0, sizeof(top->screen.answers));
    top->has_screen = false;
}

static void close_trace(struct top *top)
{
    forget_screen(top);
    if (top->is_open) {
        intervals_close(&top->intervals);
        trace_close(&top->trace);
    }
    top->is_open = false;
}

static bool open_trace(struct top *top, const char *directory, struct fail *fail)
{
    close_trace(top);
    if (!trace_open(&top->trace, directory, fail))
        return false;
    intervals_open(&top->intervals, &top->trace);
    return top->is_open = true;
}

static uint64_t ticks_of(const struct top *top, double seconds)
{
    return (uint64_t)(seconds * (double)top->trace.schema.clock_freq);
}

static bool is_live(struct top *top)
{
    return top->is_source && puller_runs(&top->puller);
}

/* Up to when all is there. */
static uint64_t known_until(struct top *top)
{
    uint64_t lag = is_live(top) ? ticks_of(top, LAG_SECONDS) : 0, end = top->trace.end + 1;

    return end > top->trace.begin + lag ? end - lag : top->trace.begin;
}

/* Walks to TO without asking anything. */
static bool skip(struct top *top, uint64_t to, struct fail *fail)
{
    struct filter filter = {0};

    return to <= top->intervals.from || intervals_ask(&top->intervals, to, NULL, 0, &filter, NULL, fail);
}

/* Takes in what has come. A stream that is new makes it another trace: all is walked again, up to there. */
static bool refresh(struct top *top, struct fail *fail)
{
    uint64_t from, shown = top->intervals.from;
    bool has_begun = top->intervals.has_begun;

    if (trace_refresh(&top->trace, &from) != TRACE_CHANGED)
        return true;
    return open_trace(top, top->puller.directory[0] != '\0' ? top->puller.directory : top->name, fail) &&
           (!has_begun || skip(top, shown, fail));
}

/* ---- the link ---- */

/* Whether it is gone: the pull ended, and not because the trace had. */
static bool link_broke(struct top *top)
{
    return top->is_source && !puller_runs(&top->puller) && top->puller.status != EXIT_FINE;
}

static bool launch(struct top *top, struct fail *fail)
{
    if (top->log != NULL) { /* of the last attempt only */
        rewind(top->log);
        if (ftruncate(fileno(top->log), 0) != 0)
            return fail_set(fail, "cannot write a temporary file");
        top->puller.log = fileno(top->log);
    }
    return puller_launch(&top->puller, top->name, top->output, fail);
}

/* Waits for a guest on a link that broke. What it sends is another trace, in a directory of its own. */
static bool try_again(struct top *top, struct fail *fail)
{
    if (top->output != NULL)
        return true; /* there the trace ends that was asked for */
    if (!puller_runs(&top->puller)) {
        puller_stop(&top->puller);
        return launch(top, fail);
    }
    if (!puller_has_begun(&top->puller))
        return true;
    top->has_broken = false;
    top->old_until = 0;
    top->at = -1;
    top->screen.lost_events = top->screen.lost_packets = 0;
    top->came = now_seconds();
    return open_trace(top, top->puller.directory, fail);
}

static int link_status(struct top *top)
{
    if (!top->has_broken)
        return EXIT_FINE;
    complain("%s: the link to the guest is gone", top->name);
    return EXIT_DAMAGE;
}

/* ---- an interval ---- */

static bool ask(struct top *top, uint64_t to, struct fail *fail)
{
    struct answer *asked[SCREEN_ANSWERS];
    struct filter filter = {0};
    unsigned count = 0;

    forget_screen(top);
    for (unsigned i = 0; i < SCREEN_ANSWERS; i++)
        if (answer_find(screen_answers[i]) != NULL)
            asked[count++] = top->screen.answers[i] = answer_new(answer_find(screen_answers[i]));
    losses_open(&top->screen.losses, &top->trace);
    top->screen.losses.quiet = true;
    if (!screen_choose(top->screen.answers, fail) ||
        !intervals_ask(&top->intervals, to, asked, count, &filter, &top->screen.losses.reporter, fail))
        return false;
    top->screen.lost_events += top->screen.losses.lost_events;
    top->screen.lost_packets += top->screen.losses.lost_packets;
    top->screen.behind =
        is_live(top) ? (double)(top->trace.end - to) / (double)top->trace.schema.clock_freq : -1;
    return top->has_screen = true;
}

static bool begin(struct top *top, struct fail *fail)
{
    uint64_t at;

    top->is_connecting = false;
    if (!open_trace(top, top->is_source ? top->puller.directory : top->name, fail))
        return false;
    at = top->at >= 0 ? top->trace.begin + ticks_of(top, top->at) : top->trace.begin;
    if (top->at >= 0 && !top->is_source && at >= top->trace.end)
        return fail_set(fail, "the trace ends before %g s", top->at);
    top->came = now_seconds();
    return skip(top, at, fail);
}

/* The first time. The screen is there meanwhile. */
static bool connect_source(struct top *top, struct fail *fail)
{
    if (puller_has_begun(&top->puller))
        return begin(top, fail);
    return puller_runs(&top->puller) || fail_set(fail, "nothing came from %s", top->name);
}

/* What a guest logged before is not shown. False: there is still some to come, or FAIL says why. */
static bool pass_old(struct top *top, uint64_t until, struct fail *fail)
{
    double now = now_seconds();

    if (top->old_until < 0)
        return true;
    if (top->old_until == 0)
        top->old_until = now + OLD_SECONDS;
    if (now < top->old_until || !skip(top, until, fail))
        return false;
    top->old_until = -1;
    return true;
}

/* The next one, when it is there: 1; 0: not yet; -1: there will be none, or FAIL says why. */
static int next(struct top *top, struct fail *fail)
{
    uint64_t span, until, from;

    fail->text[0] = '\0';
    if (!refresh(top, fail))
        return -1;
    if (top->trace.stream_count == 0)
        return is_live(top) || top->is_source ? 0 : -1;
    until = known_until(top);
    if (is_live(top) && top->at < 0 && !pass_old(top, until, fail))
        return fail->text[0] != '\0' ? -1 : 0;
    span = ticks_of(top, top->interval);
    from = top->intervals.from > top->trace.begin ? top->intervals.from : top->trace.begin;
    if (until < from + span && (is_live(top) || until <= from))
        return is_live(top) ? 0 : -1;
    /* what is left of a trace that ended is the last interval; who came late does not catch up one by one */
    if (until < from + span)
        span = until - from;
    if (is_live(top) && top->batch < 0 && until > from + 2 * span && !skip(top, until - span, fail))
        return -1;
    from = top->intervals.from > top->trace.begin ? top->intervals.from : top->trace.begin;
    return ask(top, from + span, fail) ? 1 : -1;
}

/* ---- output ---- */

static int run_batch(struct top *top)
{
    struct fail fail = {""};
    long done = 0;
    int got = 0;

    while ((top->batch == 0 || done < top->batch) && (got = next(top, &fail)) >= 0) {
        if (got == 0) {
            usleep((useconds_t)(POLL_SECONDS * 1e6));
            continue;
        }
        if (done++ != 0 && top->format != ANSWER_JSON)
            putchar('\n');
        if (top->format == ANSWER_TEXT)
            screen_print(stdout, &top->screen, WIDTH_BATCH, 0);
        else
            screen_write(stdout, &top->screen, top->format, top->rows > 0 ? top->rows : UINT64_MAX);
        fflush(stdout);
    }
    if (fail.text[0] != '\0') {
        complain("%s", fail.text);
        return EXIT_DAMAGE;
    }
    top->has_broken = got < 0 && link_broke(top);
    return link_status(top);
}

/* What stands before all else; NULL: nothing. */
static const char *describe_state(struct top *top)
{
    double quiet = now_seconds() - top->came;

    if (top->is_paused)
        return "paused";
    if (top->has_broken)
        return top->output != NULL ? "the link is gone" : "the link is gone: trying again";
    if (top->is_at_end)
        return "the end";
    if (!is_live(top) || quiet < QUIET_SECONDS)
        return NULL;
    snprintf(top->state, sizeof(top->state), "nothing for %.0f s", quiet);
    return top->state;
}

static void draw(struct top *top)
{
    unsigned width, height;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);

    terminal_size(&width, &height);
    top->screen.line = NULL;
    top->screen.state = describe_state(top);
    if (top->asks_pattern) {
        snprintf(top->line, sizeof(top->line), "only names like (%s): %s_", "*, ?, [a-z]; empty: all",
                 top->input);
        top->screen.line = top->line;
    } else if (top->has_help) {
        top->screen.line = keys_help;
    }
    if (top->is_connecting)
        fprintf(to, "%s: connecting ... (q ends)\n", top->name);
    else if (top->has_screen)
        screen_print(to, &top->screen, width, height);
    else
        fprintf(to, "%s%s%s%s: waiting for %.1f s of its trace ... (q ends)\n",
                top->screen.state != NULL ? "(" : "", top->screen.state != NULL ? top->screen.state : "",
                top->screen.state != NULL ? ") " : "", top->name, top->interval);
    fclose(to);
    terminal_draw(text);
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

/* False: end. */
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
        top->screen.sort = (enum screen_sort)((top->screen.sort + 1) % SORTS);
        break;
    case 't':
        top->screen.by_thread = !top->screen.by_thread;
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
    default:
        break;
    }
    return true;
}

/* The next interval is due; what is recorded is shown at the pace at which it happened. */
static bool step(struct top *top, double *due, struct fail *fail)
{
    double now = now_seconds();
    int got;

    if (top->is_paused || now < *due)
        return true;
    *due = now + POLL_SECONDS;
    if (top->is_connecting)
        return connect_source(top, fail);
    if (top->has_broken)
        return try_again(top, fail);
    got = next(top, fail);
    if (top->trace.end != top->end) {
        top->end = top->trace.end;
        top->came = now;
    }
    if (got < 0 && fail->text[0] != '\0')
        return false;
    top->has_broken = got < 0 && link_broke(top);
    if (got < 0 && !top->has_broken && !top->has_screen)
        return false;
    top->is_at_end = got < 0; /* it stays on the screen */
    *due = now + (got == 0 ? POLL_SECONDS : is_live(top) ? top->interval / 2 : top->interval);
    return true;
}

static int run_terminal(struct top *top)
{
    struct fail fail = {""};
    double due = 0;
    int key = 0;
    bool goes_on = true;

    if (!terminal_open(&fail)) {
        complain("%s", fail.text);
        return EXIT_USAGE;
    }
    while (goes_on && step(top, &due, &fail)) {
        double left = top->is_paused ? 60 : due - now_seconds();

        draw(top);
        key = terminal_key(left);
        goes_on = key >= 0 && take_key(top, key);
    }
    terminal_close();
    if (fail.text[0] == '\0')
        return link_status(top);
    complain("%s", fail.text);
    return EXIT_DAMAGE;
}

/* What the pull said that the screen was not for. */
static void print_log(struct top *top)
{
    int byte;

    if (top->log == NULL)
        return;
    rewind(top->log);
    while ((byte = getc(top->log)) != EOF)
        fputc(byte, stderr);
    fclose(top->log);
}

/* ---- options ---- */

static bool parse_sort(const char *text, enum screen_sort *sort)
{
    for (unsigned i = 0; i < SORTS; i++)
        if (strcmp(text, screen_sorts[i]) == 0) {
            *sort = (enum screen_sort)i;
            return true;
        }
    return false;
}

static bool set_option(void *context, int option, const char *value, struct fail *fail)
{
    struct top *top = context;
    double number;

    switch (option) {
    case 'i':
        return option_real(value, 0.000001, 3600, &top->interval, fail);
    case 'a':
        return option_real(value, 0, 1e9, &top->at, fail);
    case 'b':
        if (!option_real(value, 0, 1e9, &number, fail))
            return false;
        top->batch = (long)number;
        return true;
    case 'j':
    case 'c':
        top->format = option == 'j' ? ANSWER_JSON : ANSWER_CSV;
        top->batch = top->batch < 0 ? 0 : top->batch;
        return true;
    case 'n':
        return option_count(value, &top->rows, fail);
    case 's':
        return parse_sort(value, &top->screen.sort) ||
               fail_set(fail, "running, ready, switches, wakeups or name is wanted");
    case 't':
        return top->screen.by_thread = true;
    case 'f':
        snprintf(top->pattern, sizeof(top->pattern), "%s", value);
        return strlen(value) < sizeof(top->pattern) ||
               fail_set(fail, "at most %zu characters are wanted", sizeof(top->pattern) - 1);
    case 'o':
        top->output = value;
        return true;
    default:
        return false;
    }
}

static const struct option known[] = {{"interval", required_argument, NULL, 'i'},
                                      {"at", required_argument, NULL, 'a'},
                                      {"batch", required_argument, NULL, 'b'},
                                      {"json", no_argument, NULL, 'j'},
                                      {"csv", no_argument, NULL, 'c'},
                                      {"top", required_argument, NULL, 'n'},
                                      {"sort", required_argument, NULL, 's'},
                                      {"threads", no_argument, NULL, 't'},
                                      {"filter", required_argument, NULL, 'f'},
                                      {"output", required_argument, NULL, 'o'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};
static const struct command_line line = {.words = "[OPTION]... SOURCE|DIRECTORY",
                                         .help = help,
                                         .known = known,
                                         .letters = "o:",
                                         .least = 1,
                                         .most = 1,
                                         .take = set_option};

int run_top(int argc, char **argv)
{
    struct top *top = alloc_zero(1, sizeof(*top));
    struct fail fail;
    int status;

    top->interval = 2;
    top->at = -1;
    top->batch = -1;
    status = take_command_line(&line, top, argc, argv);
    if (status >= 0) {
        free(top);
        return status;
    }
    top->name = argv[optind];
    top->is_source = is_source(top->name);
    top->screen.source = top->name;
    top->screen.pattern = top->pattern;
    top->is_connecting = top->batch < 0 && top->is_source;
    top->log = top->is_connecting ? tmpfile() : NULL;
    if ((top->is_source && !launch(top, &fail)) ||
        (top->is_source && !top->is_connecting && !puller_wait(&top->puller, top->name, &fail)) ||
        (!top->is_connecting && !begin(top, &fail))) {
        complain("%s", fail.text);
        status = EXIT_DAMAGE;
    } else {
        status = top->batch >= 0 ? run_batch(top) : run_terminal(top);
    }
    puller_stop(&top->puller);
    print_log(top);
    close_trace(top);
    free(top);
    return status;
}
