/* source.c - finds the source for a name; checks and names that all sources share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tarn/error.h>
#include <time.h>
#include <tools/tarn/read/schema.h>
#include <tools/tarn/source/source.h>
#include <trace/print/words.h>
#include <unistd.h>

static const struct source_class *const classes[] = {&source_tcp, &source_serial, &source_core, &source_gdb,
                                                     &source_ram};

double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const struct source_class *find_class(const char *name)
{
    size_t length = strcspn(name, ":");
    for (size_t i = 0; name[length] == ':' && i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strlen(classes[i]->scheme) == length && strncmp(name, classes[i]->scheme, length) == 0)
            return classes[i];
    return NULL;
}

bool is_source(const char *name)
{
    return find_class(name) != NULL && access(name, F_OK) != 0;
}

struct source *open_source(const char *name, double wait_seconds, struct fail *fail)
{
    const struct source_class *class = find_class(name);
    const double until = now_seconds() + wait_seconds;
    bool is_wrong = class == NULL;
    if (is_wrong)
        fail_set(fail,
                 "'%s' is not a source; use tcp:HOST:PORT, serial:PATH, core:FILE, gdb:HOST:PORT, gdb:PATH "
                 "or ram:FILE",
                 name);
    for (; !is_wrong; nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL)) {
        struct source *source = class->open(class, strchr(name, ':') + 1, until, &is_wrong, fail);
        if (source != NULL || is_wrong || now_seconds() >= until)
            return source; /* cppcheck-suppress returnDanglingLifetime */
    }
    return NULL;
}

/* Checks everything that later code divides by, allocates or indexes with. */
bool check_hello(const struct wire_hello *hello, struct fail *fail)
{
    if (hello->version != WIRE_VERSION)
        return fail_set(fail, "the guest uses version %u of the link protocol, this program version %u",
                        hello->version, WIRE_VERSION);
    if (hello->byte_order != 1 && hello->byte_order != 2)
        return fail_set(fail, "the guest reports byte order %u", hello->byte_order);
    if (hello->cpu_count == 0 || hello->cpu_count > WIRE_CPUS_MAX)
        return fail_set(fail, "the guest reports %u CPUs", hello->cpu_count);
    if (hello->buffer_bytes < 4096 || hello->buffer_bytes > WIRE_PAYLOAD_MAX - 64 ||
        (hello->buffer_bytes & (hello->buffer_bytes - 1)))
        return fail_set(fail, "the guest reports buffers of %llu bytes",
                        (unsigned long long)hello->buffer_bytes);
    if (hello->clock_hz == 0)
        return fail_set(fail, "the guest reports a clock rate of 0");
    return true;
}

bool check_metadata(const struct wire_hello *hello, const void *text, size_t size, struct fail *fail)
{
    static const char start[] = "/* CTF 1.8";
    char uuid[37];
    format_uuid(hello->uuid, uuid);
    if (size < sizeof(start) || memcmp(text, start, sizeof(start) - 1) != 0 || memchr(text, 0, size))
        return fail_set(fail, "the metadata is not CTF 1.8 text");
    if (!memmem(text, size, uuid, 36))
        return fail_set(fail, "the metadata does not describe this guest: its UUID is not %s", uuid);
    return true;
}

bool parse_mode(const char *text, uint32_t *mode, struct fail *fail)
{
    return trace_parse_mode(text, mode) ||
           fail_set(fail, "'%s' is not a mode; use flight, stream or once", text);
}

bool source_control(struct source *source, const struct wire_request *request, const char *what,
                    struct source_reply *reply, struct fail *fail)
{
    return source->class->control(source, request, reply, fail) &&
           (reply->status >= 0 || fail_set(fail, "%s%s", what, tarn_error_text(reply->status)));
}

static bool join_command(char text[WIRE_TEXT_MAX + 1], int count, char *const *words, struct fail *fail)
{
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        if (length + strlen(words[i]) + 1 > WIRE_TEXT_MAX)
            return fail_set(fail, "the command is longer than %u bytes", WIRE_TEXT_MAX);
        length += (size_t)sprintf(text + length, i ? "\n%s" : "%s", words[i]);
    }
    return true;
}

char *source_command(struct source *source, int count, char *const *words, struct fail *fail)
{
    char text[WIRE_TEXT_MAX + 1];
    const struct wire_request request = {.operation = WIRE_OP_COMMAND, .text = text};
    struct source_reply reply = {0};
    if (!join_command(text, count, words, fail))
        return NULL;
    const bool is_done = source_control(source, &request, "", &reply, fail);
    const uint8_t *sent = reply.data;
    char *answer = is_done || (reply.status < 0 && reply.size > 0) ? alloc_zero(1, reply.size + 1) : NULL;
    for (size_t i = 0; answer != NULL && i < reply.size; i++)
        answer[i] = (sent[i] < ' ' && sent[i] != '\n') || sent[i] > '~' ? '?' : (char)sent[i];
    if (is_done || answer == NULL)
        return answer;
    fail_set(fail, "%s", answer);
    free(answer);
    return NULL;
}

bool source_choose_previous(struct source *source, struct wire_previous *previous, struct fail *fail)
{
    const struct wire_request request = {.operation = WIRE_OP_PREVIOUS};
    struct source_reply reply;
    if (!source_control(source, &request, "no previous trace: ", &reply, fail))
        return false;
    if (reply.size < WIRE_PREVIOUS_BYTES)
        return fail_set(fail, "no previous trace: the guest's reply has %zu bytes instead of %u", reply.size,
                        WIRE_PREVIOUS_BYTES);
    wire_get_previous(reply.data, previous);
    source->hello = previous->hello;
    source->is_previous = true;
    return check_hello(&source->hello, fail);
}
