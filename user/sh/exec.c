/*
 * exec.c - runs the pipelines of a line.
 *
 * The shell opens the targets of redirections itself, so that it can report errors, and passes them to the
 * child by dup2. If a command of a pipeline cannot be started, it counts as ended with status 127, and the
 * others run nevertheless.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <servers/protocol/authority.h>
#include <tarn/runtime.h>
#include <user/sh/sh.h>

extern char **environ;

int last_status;
char **script_arguments;
int script_argument_count;

#define PIPELINE_MAX   32
#define BACKGROUND_MAX 64
static pid_t background[BACKGROUND_MAX];
static size_t background_count;

static int complain(const char *what)
{
    fprintf(stderr, "sh: %s: %s\n", what, strerror(errno));
    return 1;
}

static int status_of(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/* ---- a single command ------------------------------------------------------------------------------ */

/* The command's standard input, output and error; -1: the shell's own. And what is granted to it. */
struct streams {
    int fd[3];
    bool error_to_out;
    uint32_t authority; /* a set of servers/protocol/authority.def */
};

static void replace_stream(struct streams *streams, int which, int fd)
{
    if (streams->fd[which] >= 0)
        close(streams->fd[which]);
    streams->fd[which] = fd;
}

static void close_streams(struct streams *streams)
{
    for (int i = 0; i < 3; i++)
        replace_stream(streams, i, -1);
}

static bool open_redirection(const struct token *redirection, struct streams *streams)
{
    if (redirection->kind == TOKEN_ERROR_TO_OUT) {
        streams->error_to_out = true;
        return true;
    }
    static const int flags[] = {[TOKEN_IN] = O_RDONLY,
                                [TOKEN_OUT] = O_WRONLY | O_CREAT | O_TRUNC,
                                [TOKEN_ERROR] = O_WRONLY | O_CREAT | O_TRUNC,
                                [TOKEN_APPEND] = O_WRONLY | O_CREAT | O_APPEND};
    char *path = expand_to_one(redirection[1].text);
    int fd = open(path, flags[redirection->kind] | O_CLOEXEC, 0666);
    if (fd < 0)
        complain(path);
    else
        replace_stream(streams,
                       redirection->kind == TOKEN_IN      ? 0
                       : redirection->kind == TOKEN_ERROR ? 2
                                                          : 1,
                       fd);
    free(path);
    return fd >= 0;
}

static int spawn_command(char **words, const struct streams *streams, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    posix_spawnattr_setauthority_np(&attributes, streams->authority);
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++) {
        if (streams->fd[i] >= 0)
            posix_spawn_file_actions_adddup2(&actions, streams->fd[i], i);
    }
    if (streams->error_to_out)
        posix_spawn_file_actions_adddup2(&actions, 1, 2);
    error = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Starts another shell with the arguments FIRST and then the words. */
static int spawn_shell(const struct words *first, char **words, const struct streams *streams, pid_t *pid)
{
    struct words all = {0};
    add_word(&all, strdup(program_startup()->path));
    for (size_t i = 0; i < first->count; i++)
        add_word(&all, strdup(first->word[i]));
    for (; *words; words++)
        add_word(&all, strdup(*words));
    int error = spawn_command(all.word, streams, pid);
    free_words(&all);
    return error;
}

/* Runs a built-in command concurrently with others, in a second shell (main.c, -b). */
static int spawn_builtin(char **words, const struct streams *streams, pid_t *pid)
{
    struct words first = {0};
    char number[16];
    add_word(&first, strdup("-b"));
    snprintf(number, sizeof number, "%d", last_status);
    add_word(&first, strdup(number));
    snprintf(number, sizeof number, "%d", script_argument_count);
    add_word(&first, strdup(number));
    for (int i = 0; i < script_argument_count; i++)
        add_word(&first, strdup(script_arguments[i]));
    int error = spawn_shell(&first, words, streams, pid);
    free_words(&first);
    return error;
}

/* Whether the file may be a script without "#!": its first line has no NUL. */
static bool is_text(const char *path)
{
    char head[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        close(fd);
    if (size <= 0)
        return size == 0;
    const char *end = memchr(head, '\n', (size_t)size);
    return !memchr(head, 0, end ? (size_t)(end - head) : (size_t)size);
}

/* Finds a program as posix_spawnp does. Returns a malloc'ed path or NULL. */
static char *find_program(const char *name)
{
    const char *search = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? strdup(name) : NULL;
    while (search && *search) {
        size_t length = strcspn(search, ":");
        char *path = NULL;
        if (asprintf(&path, "%.*s%s%s", (int)length, search, length ? "/" : "", name) < 0)
            return NULL;
        if (access(path, X_OK) == 0)
            return path;
        free(path);
        search += length + (search[length] == ':');
    }
    return NULL;
}

/* Starts a program, or a script by its name, and reports errors. Returns 0 or an errno. */
static int spawn_program(char **words, const struct streams *streams, pid_t *pid)
{
    int error = spawn_command(words, streams, pid);
    char *path = error == ENOEXEC || error == ENOENT ? find_program(words[0]) : NULL;
    if (error == ENOEXEC && path && is_text(path)) {
        struct words first = {0};
        add_word(&first, strdup(path));
        error = spawn_shell(&first, words + 1, streams, pid);
        free_words(&first);
    }
    if (error)
        fprintf(stderr, "sh: %s: %s\n", words[0],
                error == EPERM    ? "this shell does not hold what it should grant"
                : error != ENOENT ? strerror(error)
                : path            ? "the interpreter in its first line does not exist"
                                  : "no such program");
    free(path);
    return error;
}

static bool is_assignment(const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return false;
    return strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
           (size_t)(equals - word);
}

static void assign(const char *word)
{
    char *name = strndup(word, strcspn(word, "="));
    char *value = expand_to_one(strchr(word, '=') + 1);
    setenv(name, value, 1);
    free(name);
    free(value);
}

/* A builtin writes to stdio and descriptor 1, so these are redirected while it runs. */
static int run_here(const struct words *words, const struct streams *streams)
{
    int saved[3] = {-1, -1, -1};
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        if (streams->fd[i] >= 0) {
            saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
            dup2(streams->fd[i], i);
        }
    }
    int status = run_builtin(words);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        if (saved[i] >= 0) {
            dup2(saved[i], i);
            close(saved[i]);
        }
    }
    return status;
}

static uint32_t find_authority(const char *name)
{
    for (unsigned i = 0; i < AUTHORITIES; i++)
        if (!strcmp(name, authorities[i].name))
            return 1u << i;
    return 0;
}

/* `grant NAME[,NAME...] COMMAND`: reads the set. Returns how many words it takes, 0 after a message. */
static size_t read_grant(const struct words *words, uint32_t *authority)
{
    char *rest = words->count > 2 ? words->word[1] : NULL, *name;
    while (rest && (name = strsep(&rest, ","))) {
        const uint32_t found = find_authority(name);
        *authority = found ? *authority | found : 0;
        if (!found)
            break;
    }
    if (*authority)
        return 2;
    fprintf(stderr, "usage: grant NAME[,NAME...] COMMAND; NAME:");
    for (unsigned i = 0; i < AUTHORITIES; i++)
        fprintf(stderr, " %s", authorities[i].name);
    fprintf(stderr, "\n");
    return 0;
}

/* Starts the command from `at` to `end` and consumes `streams`. Returns its pid, or 0 if there is nothing to
 * wait for; then *status is set. */
static pid_t start_command(const struct token *at, const struct token *end, struct streams streams,
                           bool alone, int *status)
{
    pid_t pid = 0;
    struct words words = {0};
    bool ready = true;
    *status = 1;
    for (const struct token *each = at; ready && each < end; each = next_argument(each))
        ready = !is_redirection(each->kind) || open_redirection(each, &streams);
    bool assigns = true;
    for (; at < end; at = next_argument(at)) {
        if (is_redirection(at->kind))
            continue;
        assigns = assigns && is_assignment(at->text);
        if (assigns)
            assign(at->text);
        else
            expand_word(at->text, &words);
    }
    size_t granted = 0;
    if (ready && words.count && !strcmp(words.word[0], "grant") &&
        !(granted = read_grant(&words, &streams.authority))) {
        ready = false;
        *status = 2;
    }
    char **word = words.word + granted;
    if (ready && words.count == 0) {
        *status = 0;
    } else if (ready && alone && !granted && is_builtin(word[0])) {
        *status = run_here(&words, &streams);
    } else if (ready) {
        int error = is_builtin(word[0]) && !granted ? spawn_builtin(word, &streams, &pid)
                                                    : spawn_program(word, &streams, &pid);
        if (error) {
            pid = 0;
            *status = 127;
        }
    }
    close_streams(&streams);
    free_words(&words);
    return pid;
}

/* ---- pipelines and lists --------------------------------------------------------------------------- */

static int wait_for(const pid_t *pids, size_t count, int status)
{
    terminal_set_foreground(pids, count);
    for (size_t i = 0; i < count; i++) {
        int wait_status;
        if (pids[i] == 0)
            continue;
        if (waitpid(pids[i], &wait_status, 0) < 0)
            status = complain("waitpid");
        else if (i + 1 == count)
            status = status_of(wait_status);
    }
    terminal_set_foreground(NULL, 0);
    return status;
}

static int run_pipeline(const struct token *at, const struct token *end)
{
    pid_t pids[PIPELINE_MAX];
    int status = 0, next_input = -1;
    size_t count = 1;
    for (const struct token *each = at; each < end; each++)
        count += each->kind == TOKEN_PIPE;
    if (count > PIPELINE_MAX) {
        fprintf(stderr, "sh: more than %d commands in a pipeline\n", PIPELINE_MAX);
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        struct streams streams = {.fd = {next_input, -1, -1}};
        next_input = -1;
        if (i + 1 < count) {
            int ends[2];
            if (pipe(ends) < 0) {
                close_streams(&streams);
                wait_for(pids, i, 0);
                return complain("pipe");
            }
            fcntl(ends[0], F_SETFD, FD_CLOEXEC);
            fcntl(ends[1], F_SETFD, FD_CLOEXEC);
            streams.fd[1] = ends[1];
            next_input = ends[0];
        }
        const struct token *command = at;
        while (at < end && at->kind != TOKEN_PIPE)
            at++;
        pids[i] = start_command(command, at++, streams, count == 1, &status);
    }
    if (end->kind != TOKEN_BACKGROUND)
        return wait_for(pids, count, status);
    for (size_t i = 0; i < count; i++) {
        if (pids[i] && background_count < BACKGROUND_MAX)
            background[background_count++] = pids[i];
    }
    return 0;
}

void reap_background(void)
{
    for (size_t i = 0; i < background_count;) {
        int wait_status;
        pid_t pid = waitpid(background[i], &wait_status, WNOHANG);
        if (pid == 0) {
            i++;
            continue;
        }
        if (pid > 0)
            fprintf(stderr, "[%d] ended with status %d\n", (int)pid, status_of(wait_status));
        background[i] = background[--background_count];
    }
}

int run_line(const char *line)
{
    const char *error = "out of memory";
    struct token *tokens = split_line(line, &error);
    if (!tokens) {
        fprintf(stderr, "sh: %s\n", error);
        return last_status = 2;
    }
    enum token_kind before = TOKEN_SEMICOLON;
    for (const struct token *at = tokens, *end; at->kind != TOKEN_END; at = end + (end->kind != TOKEN_END)) {
        for (end = at; end->kind == TOKEN_WORD || end->kind == TOKEN_PIPE || is_redirection(end->kind);)
            end++;
        if (!(before == TOKEN_AND && last_status != 0) && !(before == TOKEN_OR && last_status == 0))
            last_status = run_pipeline(at, end);
        before = end->kind;
    }
    free_tokens(tokens);
    return last_status;
}

int run_script(const char *path)
{
    FILE *stream = fopen(path, "r");
    if (!stream) {
        complain(path);
        return 127;
    }
    char line[4096];
    unsigned number = 0;
    while (fgets(line, sizeof line, stream)) {
        number++;
        size_t length = strlen(line);
        if (length + 1 == sizeof line && line[length - 1] != '\n') {
            fprintf(stderr, "sh: %s:%u: the line is longer than %zu characters\n", path, number,
                    sizeof line - 2);
            last_status = 2;
            break;
        }
        run_line(line);
    }
    fclose(stream);
    return last_status;
}
