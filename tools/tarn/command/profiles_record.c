/* SPDX-License-Identifier: BSD-2-Clause */
/* profiles_record.c - writes files of profiles; see profiles_record.h. */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <tools/tarn/command/profiles_record.h>
#include <tools/tarn/command/row_options.h>
#include <unistd.h>

#define LOCAL_HOST   "127.0.0.1"
#define SNAPSHOT_MAX (256u << 20) /* bytes; a peer that sends more does not send what it has */

void profiles_keep(struct profiles *profiles, uint64_t pid)
{
    size_t kept = 0;

    for (size_t i = 0; i < profiles->count; i++) {
        if (pid == UINT64_MAX || profiles->copies[i].head.pid == pid)
            profiles->copies[kept++] = profiles->copies[i];
        else
            free(profiles->copies[i].rows);
    }
    profiles->count = kept;
}

void profiles_complain(const struct profiles *profiles)
{
    const uint64_t unfinished = profiles_unfinished(profiles);

    if (unfinished != 0)
        complain("%" PRIu64 " row%s updated while they were read: they may lack a part of an update",
                 unfinished, unfinished == 1 ? " was being" : "s were being");
    if (profiles->is_cut)
        complain("only %zu profiles could be read: %s", profiles->count, profiles->why.text);
}

/* ---- of a source ----------------------------------------------------------------------------------- */

static bool add_snapshot(const struct profiles_record *record, struct profiles_writer *writer,
                         struct source *source, struct fail *fail)
{
    struct profiles profiles;

    if (!profiles_read(&profiles, source, fail))
        return false;
    profiles_complain(&profiles);
    bool ok = profiles.count > 0 || fail_set(fail, PROFILES_ARE_OFF);
    profiles_keep(&profiles, record->pid);
    ok = ok && profiles_writer_add(writer, &profiles, record->pid != UINT64_MAX, fail);
    profiles_free(&profiles);
    return ok;
}

bool profiles_record(const struct profiles_record *record, struct source *source, struct fail *fail)
{
    struct profiles_writer writer;
    struct fail other;

    if (!profiles_writer_open(&writer, record->path, fail))
        return false;
    double due = now_seconds();
    bool ok = add_snapshot(record, &writer, source, fail);
    while (ok && record->interval_ns != 0 && (record->count == 0 || writer.added < record->count)) {
        due += (double)record->interval_ns * 1e-9;
        ok = rows_wait(source, due, fail) && add_snapshot(record, &writer, source, fail);
    }
    if (!ok && writer.added > 0)
        complain("%s has %zu snapshots", record->path, writer.added);
    return profiles_writer_close(&writer, ok ? fail : &other) && ok;
}

/* ---- that a guest sends ---------------------------------------------------------------------------- */

/* Returns a socket, or -1: FAIL. */
static int listen_at(const char *address, struct fail *fail)
{
    const char *colon = strrchr(address, ':');
    char host[256] = LOCAL_HOST;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
    const char *port = colon != NULL ? colon + 1 : address;
    char *end;
    const unsigned long number = strtoul(port, &end, 10);
    int fd = -1, on = 1;

    if (*port < '0' || *port > '9' || *end != '\0' || number > UINT16_MAX) {
        fail_set(fail, "'%s' is not [HOST:]PORT", address);
        return -1;
    }
    if (colon != NULL && (size_t)(colon - address) < sizeof(host))
        snprintf(host, sizeof(host), "%.*s", (int)(colon - address), address);
    const int error = getaddrinfo(host, port, &hints, &list);
    if (error != 0) {
        fail_set(fail, "no address for '%s': %s", address, gai_strerror(error));
        return -1;
    }
    for (struct addrinfo *info = list; info != NULL && fd < 0; info = info->ai_next) {
        fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC, info->ai_protocol);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
        if (bind(fd, info->ai_addr, info->ai_addrlen) != 0 || listen(fd, 1) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0)
        fail_set(fail, "cannot listen at %s: %s", address, strerror(errno));
    freeaddrinfo(list);
    return fd;
}

/* Says where it listens; the system may have chosen the port. */
static void report_port(int fd)
{
    struct sockaddr_storage at;
    socklen_t size = sizeof(at);
    char host[64] = "", port[16] = "";

    if (getsockname(fd, (struct sockaddr *)&at, &size) == 0)
        getnameinfo((struct sockaddr *)&at, size, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    complain("waiting for profiles at %s, port %s", host, port);
}

struct arriving {
    struct profiles profiles;
    uint64_t bytes;
};

static bool is_small_with(struct arriving *arriving, uint64_t bytes)
{
    arriving->bytes += bytes;
    return arriving->bytes <= SNAPSHOT_MAX;
}

static bool take_profile(void *context, const struct trace_profile *head,
                         const struct trace_profile_row *rows)
{
    struct arriving *arriving = context;

    if (!is_small_with(arriving, sizeof(*head) + head->rows * sizeof(*rows)))
        return false;
    profiles_append(&arriving->profiles, head, rows);
    return true;
}

static bool take_names(void *context, const struct trace_routine *list, uint32_t count)
{
    struct arriving *arriving = context;

    if (!is_small_with(arriving, count * sizeof(*list)))
        return false;
    profiles_append_names(&arriving->profiles, list, count);
    return true;
}

/* Copies one snapshot from the connection to the file. *got says how it ended; false: FAIL, of the file. */
static bool receive_one(struct trace_profile_reader *reader, struct profiles_writer *writer,
                        enum trace_profile_got *got, struct fail *fail)
{
    struct arriving arriving = {.bytes = 0};
    struct trace_profile_snapshot snapshot;
    bool ok = true;

    *got = trace_profile_read_snapshot(reader, &snapshot, take_profile, &arriving);
    if (*got == TRACE_PROFILE_GOT_SNAPSHOT) {
        arriving.profiles.begin = snapshot.begin;
        arriving.profiles.is_cut = snapshot.end.is_cut != 0;
        ok = profiles_writer_add(writer, &arriving.profiles, snapshot.begin.is_part != 0, fail);
    }
    profiles_free(&arriving.profiles);
    return ok;
}

static bool receive_all(const struct profiles_record *record, struct profiles_writer *writer, FILE *from,
                        struct fail *fail)
{
    struct trace_profile_reader reader = {
        .file = from, .payload = alloc_zero(1, TRACE_PROFILE_BYTES_MAX), .take_names = take_names};
    enum trace_profile_got got = TRACE_PROFILE_GOT_SNAPSHOT;
    bool ok = true;

    while (ok && got == TRACE_PROFILE_GOT_SNAPSHOT && (record->count == 0 || writer->added < record->count))
        ok = receive_one(&reader, writer, &got, fail);
    free(reader.payload);
    if (ok && got == TRACE_PROFILE_GOT_DAMAGED)
        return fail_set(fail, "invalid profile at byte %llu: %s; %zu complete snapshots are in %s",
                        (unsigned long long)reader.offset, reader.wrong, writer->added, record->path);
    if (ok && got == TRACE_PROFILE_GOT_CUT)
        return fail_set(fail,
                        "the connection ended in the middle of a snapshot; %zu complete snapshots are in %s",
                        writer->added, record->path);
    return ok;
}

/* Closes the connection FD. */
static bool receive_from(const struct profiles_record *record, struct profiles_writer *writer, int fd,
                         struct fail *fail)
{
    FILE *from = fd >= 0 ? fdopen(fd, "rb") : NULL;

    if (from == NULL)
        return fail_set(fail, "%s", strerror(errno));
    bool ok = receive_all(record, writer, from, fail);
    fclose(from);
    return ok;
}

bool profiles_receive(const struct profiles_record *record, struct fail *fail)
{
    struct profiles_writer writer;
    struct sockaddr_storage peer;
    socklen_t size = sizeof(peer);
    struct fail other;
    int at = listen_at(record->listen, fail), fd;

    if (at < 0)
        return false;
    if (!profiles_writer_open(&writer, record->path, fail)) {
        close(at);
        return false;
    }
    report_port(at);
    while ((fd = accept4(at, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC)) < 0 && errno == EINTR)
        continue;
    close(at);
    bool ok = receive_from(record, &writer, fd, fail);
    if (ok)
        complain("%s has %zu snapshots more", record->path, writer.added);
    return profiles_writer_close(&writer, ok ? fail : &other) && ok;
}
