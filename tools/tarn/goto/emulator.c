/* tools/tarn/goto/emulator.c - starts, continues and ends the emulator of a recipe; see emulator.h. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <tools/tarn/goto/child.h>
#include <tools/tarn/goto/emulator.h>
#include <tools/tarn/map.h>
#include <tools/tarn/source/source.h>
#include <unistd.h>

#define LOOK_MS             100  /* between checks whether it works */
#define IDLE_LOOKS          200u /* consecutive checks without work: it has no timer and waits forever */
#define WORK_SECONDS        1e-3 /* less CPU time is no work */
#define WORDS_MORE          10u
#define STARTING_MAX        8u    /* words of the command before its first option */
#define EMULATOR_COPIES_MAX 1024u /* far more than the journeys in a run make */

static bool check_file(const char *what, const struct recipe_file *file, struct fail *fail)
{
    char *words[] = {"sha256sum", "--", (char *)file->path, NULL}, line[PATH_MAX + 80];
    if (child_run(words, line, sizeof(line)) != 0 || line[0] == '\0')
        return fail_set(fail, "cannot read the run's %s, %.300s; build it again", what, file->path);
    size_t skip = line[0] == '\\'; /* sha256sum escapes the name */
    if (strncmp(line + skip, file->sha256, 64) == 0)
        return true;
    return fail_set(fail,
                    "%.200s is not the %s of the run: its SHA-256 begins with %.16s, the run's with %.16s. "
                    "Build the version that ran (make ARCH=...), or run again with this one",
                    file->path, what, line + skip, file->sha256);
}

/* The words before the command's first option start the emulator. */
bool emulator_check_recipe(const struct recipe *recipe, struct fail *fail)
{
    char *words[STARTING_MAX + 2] = {NULL}, line[200];
    size_t n = 0;
    if (!check_file("kernel", &recipe->kernel, fail) || !check_file("archive", &recipe->archive, fail) ||
        !check_file("library", &recipe->library, fail))
        return false;
    for (; n < STARTING_MAX && n < recipe->command_count && recipe->command[n][0] != '-'; n++)
        words[n] = (char *)recipe->command[n];
    const char *emulator = n > 0 ? words[n - 1] : "";
    words[n] = "--version";
    if (n == 0 || child_run(words, line, sizeof(line)) != 0)
        return fail_set(fail, "cannot run '%s'; `make deps` installs it", emulator);
    if (strcmp(line, recipe->emulator) == 0)
        return true;
    return fail_set(fail,
                    "the emulator is '%s', the run's was '%s': install that one, or run again with this one",
                    line, recipe->emulator);
}

static uint64_t hash_recipe(const struct recipe *recipe)
{
    const char *words[] = {recipe->kernel.sha256, recipe->archive.sha256, recipe->library.sha256,
                           recipe->emulator};
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < 4; i++)
        hash = hash_bytes(hash, words[i], strlen(words[i]) + 1);
    for (size_t i = 0; i < recipe->command_count; i++)
        hash = hash_bytes(hash, recipe->command[i], strlen(recipe->command[i]) + 1);
    return hash;
}

bool emulator_open(struct emulator *emulator, const struct recipe *recipe, struct fail *fail)
{
    const char *parent = getenv("TMPDIR");
    struct stat about;
    *emulator = (struct emulator){.recipe = recipe, .connection = -1};
    if (parent == NULL || *parent == '\0')
        parent = "/tmp";
    child_catch_signals();
    if (snprintf(emulator->copies, sizeof(emulator->copies), "%s/tarn-%u-%016" PRIx64, parent,
                 (unsigned)getuid(), hash_recipe(recipe)) >= (int)sizeof(emulator->copies)) {
        emulator->copies[0] = '\0';
        return fail_set(fail, "TMPDIR is too long for the path of a socket: %.200s", parent);
    }
    snprintf(emulator->socket_path, sizeof(emulator->socket_path), "%s/.%ld", emulator->copies,
             (long)getpid());
    if (mkdir(emulator->copies, 0700) != 0 && errno != EEXIST)
        return fail_set(fail, "cannot make a directory in %s: %s", parent, strerror(errno));
    if (lstat(emulator->copies, &about) != 0 || !S_ISDIR(about.st_mode) || about.st_uid != getuid())
        return fail_set(fail, "%s is in the way: it is not a directory of this user", emulator->copies);
    return true;
}

static void name_copy(const struct emulator *emulator, uint64_t clock, char path[EMULATOR_PATH_MAX])
{
    snprintf(path, EMULATOR_PATH_MAX, "%s/%013" PRIx64, emulator->copies, clock);
}

/* Lists the guest times of the copies, at most EMULATOR_COPIES_MAX. Removes sockets for gdb that a killed
 * tarn has left. */
static unsigned list_copies(const struct emulator *emulator, uint64_t clocks[EMULATOR_COPIES_MAX])
{
    DIR *copies = opendir(emulator->copies);
    struct dirent *entry;
    unsigned count = 0;
    while (copies != NULL && count < EMULATOR_COPIES_MAX && (entry = readdir(copies)) != NULL)
        if (entry->d_name[0] != '.')
            clocks[count++] = strtoull(entry->d_name, NULL, 16);
        else if (atoi(entry->d_name + 1) > 0 && kill(atoi(entry->d_name + 1), 0) != 0)
            unlinkat(dirfd(copies), entry->d_name, 0);
    if (copies != NULL)
        closedir(copies);
    return count;
}

/* Finds the last copy before a guest time. */
static bool choose_last(const struct emulator *emulator, uint64_t before, uint64_t *clock)
{
    uint64_t clocks[EMULATOR_COPIES_MAX];
    bool found = false;
    for (unsigned i = list_copies(emulator, clocks); i-- > 0;)
        if (clocks[i] < before && (!found || clocks[i] > *clock)) {
            found = true;
            *clock = clocks[i];
        }
    return found;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    memcpy(address.sun_path, path, strlen(path));
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0)
        return connection;
    close(connection);
    return -1;
}

/* The recipe's command without consoles, with the library. NULL: it cannot be found. */
static char **make_command(const struct recipe *recipe, struct arena *arena, struct fail *fail)
{
    char **words = arena_alloc(arena, (recipe->command_count + WORDS_MORE) * sizeof(char *)), **to = words;
    char library[PATH_MAX], preload[2 * PATH_MAX + 40];
    static const char variable[] = "LD_PRELOAD=";
    if (!source_file("build/host/copies.so", library, fail))
        return NULL;
    for (size_t i = 0; i < recipe->command_count; i++) {
        const char *word = recipe->command[i];
        if (strncmp(word, variable, strlen(variable)) == 0) {
            snprintf(preload, sizeof(preload), "%s%s:%s", variable, library, word + strlen(variable));
            word = arena_string(arena, preload, strlen(preload));
        }
        *to++ = (char *)word;
    }
    *to++ = "-display", *to++ = "none", *to++ = "-serial", *to++ = "null";
    return words;
}

/* The emulator ends when it has made the copy. */
static bool make_first(struct emulator *emulator, struct fail *fail)
{
    struct arena arena = {NULL};
    char path[EMULATOR_PATH_MAX], line[300];
    char **words = make_command(emulator->recipe, &arena, fail);
    name_copy(emulator, 0, path);
    setenv("TARN_GOTO", path, 1);
    bool ok = words != NULL && (child_run(words, line, sizeof(line)) == 0 ||
                                fail_set(fail, "the emulator does not start: %s",
                                         line[0] != '\0' ? line : "it printed nothing"));
    unsetenv("TARN_GOTO");
    arena_free(&arena);
    return ok;
}

static bool send_command(struct emulator *emulator, enum copies_request what, uint64_t place, uint64_t until,
                         const char *path)
{
    struct copies_command command = {.what = what, .place = place, .until = until};
    snprintf(command.path, sizeof(command.path), "%s", path);
    return send(emulator->connection, &command, sizeof(command), MSG_NOSIGNAL) == sizeof(command);
}

/* Waits for a reply. */
static enum emulator_got receive(struct emulator *emulator, struct copies_reply_packet *packet,
                                 struct fail *fail)
{
    struct pollfd wait = {.fd = emulator->connection, .events = POLLIN};
    double worked = emulator_seconds(emulator);
    unsigned looks = 0;
    while (poll(&wait, 1, LOOK_MS) <= 0) {
        double seconds = emulator_seconds(emulator);
        if (child_is_interrupted())
            return EMULATOR_FAILED;
        if (seconds > worked + WORK_SECONDS)
            worked = seconds, looks = 0;
        else if (++looks > IDLE_LOOKS)
            return EMULATOR_IDLE;
    }
    if (recv(emulator->connection, packet, sizeof(*packet), 0) != sizeof(*packet)) {
        fail_set(fail, "a signal ended the emulator");
        return EMULATOR_FAILED;
    }
    emulator->clock = packet->clock;
    return packet->what == COPIES_STORED    ? EMULATOR_STORED
           : packet->what == COPIES_STOPPED ? EMULATOR_TIME
                                            : EMULATOR_ENDED;
}

/* Tries the copy of a guest time. */
static bool start_at(struct emulator *emulator, uint64_t clock, struct fail *fail)
{
    struct copies_reply_packet hello;
    char path[EMULATOR_PATH_MAX];
    name_copy(emulator, clock, path);
    emulator->connection = connect_to(path);
    child_ends_with(emulator->connection);
    if (emulator->connection < 0 || receive(emulator, &hello, fail) != EMULATOR_TIME)
        return fail_set(fail, "%s has ended", path);
    emulator->pid = (pid_t)hello.pid;
    emulator->began = hello.clock;
    emulator->memory = memory_of_process(emulator->pid, hello.base, hello.bytes, fail);
    return emulator->memory != NULL;
}

bool emulator_start(struct emulator *emulator, uint64_t before, struct fail *fail)
{
    char path[EMULATOR_PATH_MAX];
    for (bool is_first = false;;) {
        uint64_t clock = 0;
        emulator_stop(emulator);
        bool found = choose_last(emulator, before, &clock);
        if (!found && (is_first || !make_first(emulator, fail)))
            return false;
        is_first |= !found;
        if (start_at(emulator, clock, fail))
            return true;
        if (child_is_interrupted() || is_first)
            return false;
        name_copy(emulator, clock, path); /* it has been killed */
        unlink(path);
    }
}

enum emulator_got emulator_go(struct emulator *emulator, uint64_t place, uint64_t until, struct fail *fail)
{
    struct copies_reply_packet packet;
    if (send_command(emulator, COPIES_GO, place, until, ""))
        return receive(emulator, &packet, fail);
    fail_set(fail, "a signal ended the emulator");
    return EMULATOR_FAILED;
}

bool emulator_copy(struct emulator *emulator, struct fail *fail)
{
    struct copies_reply_packet packet;
    char path[EMULATOR_PATH_MAX];
    name_copy(emulator, emulator->clock, path);
    return send_command(emulator, COPIES_COPY, 0, 0, path) &&
           receive(emulator, &packet, fail) == EMULATOR_TIME;
}

bool emulator_serve_gdb(struct emulator *emulator, struct fail *fail)
{
    struct copies_reply_packet packet;
    unlink(emulator->socket_path);
    return send_command(emulator, COPIES_GDB, 0, 0, emulator->socket_path) &&
           receive(emulator, &packet, fail) == EMULATOR_TIME;
}

uint64_t emulator_word(const struct emulator *emulator, uint64_t place)
{
    uint64_t word = 0;
    struct fail ignored;
    return memory_read_place(emulator->memory, place, &word, sizeof(word), &ignored) ? word : 0;
}

double emulator_seconds(const struct emulator *emulator)
{
    struct timespec used = {0};
    clockid_t clock;
    if (emulator->pid > 0 && clock_getcpuclockid(emulator->pid, &clock) == 0)
        clock_gettime(clock, &used);
    return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* The runner ends with its connection, whose other side is open as long as it runs. */
void emulator_stop(struct emulator *emulator)
{
    struct copies_reply_packet late;
    if (emulator->memory != NULL)
        memory_close(emulator->memory);
    emulator->memory = NULL;
    child_ends_with(-1);
    if (emulator->connection >= 0) {
        shutdown(emulator->connection, SHUT_WR);
        while (recv(emulator->connection, &late, sizeof(late), 0) > 0)
            ;
        close(emulator->connection);
    }
    emulator->connection = -1;
    emulator->pid = 0;
}

void emulator_forget(struct emulator *emulator)
{
    uint64_t clocks[EMULATOR_COPIES_MAX];
    char path[EMULATOR_PATH_MAX];
    struct fail ignored;
    for (unsigned i = list_copies(emulator, clocks); i-- > 0; emulator_stop(emulator)) {
        name_copy(emulator, clocks[i], path);
        if (start_at(emulator, clocks[i], &ignored))
            send_command(emulator, COPIES_END, 0, 0, "");
        unlink(path);
    }
}

unsigned emulator_count_copies(const struct emulator *emulator)
{
    uint64_t clocks[EMULATOR_COPIES_MAX];
    return list_copies(emulator, clocks);
}

void emulator_close(struct emulator *emulator)
{
    emulator_stop(emulator);
    unlink(emulator->socket_path);
    if (emulator->copies[0] != '\0')
        rmdir(emulator->copies); /* if it has no copies */
}
