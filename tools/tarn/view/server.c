/*
 * server.c - serves the page and its requests over HTTP, to browsers on this machine only; see api.h.
 *
 * It listens on the loopback address, and refuses requests that pages of other sites cause: Host must be this
 * server (foreign names may resolve to loopback), Origin, if present, too, and Sec-Fetch-Site must not name
 * another site. If a client closes its connection, the work on its request stops.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <tools/tarn/embedded.h>
#include <tools/tarn/view/api.h>
#include <tools/tarn/view/styles.h>

#define CONNECTIONS_MAX 64u /* one thread each, most of them asleep */
#define IDLE_SECONDS    60u

struct server {
    struct view *view;
    struct MHD_Daemon *daemon;
    unsigned port;
};

/* Nothing is loaded from elsewhere, cached, or readable by other sites. */
#define PAGE_POLICY                                                                                      \
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors " \
    "'self'; base-uri 'none'; form-action 'none'"
/* A picture contains a script, and may load nothing else. */
#define PICTURE_POLICY                                                                               \
    "sandbox allow-scripts allow-modals; default-src 'none'; script-src 'unsafe-inline'; style-src " \
    "'unsafe-inline'; frame-ancestors 'self'"
static const char *const headers[][2] = {
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
};

/* ALLOWED: the permitted methods, in the reply to another method; else NULL. */
static enum MHD_Result respond(struct MHD_Connection *connection, unsigned status, const char *type,
                               const void *bytes, size_t size, enum MHD_ResponseMemoryMode mode,
                               const char *allowed)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)bytes, mode);
    enum MHD_Result result;
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    MHD_add_response_header(response, "Content-Security-Policy",
                            strcmp(type, API_SVG) == 0 ? PICTURE_POLICY : PAGE_POLICY);
    if (allowed != NULL)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed);
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *why,
                              const char *allowed)
{
    return respond(connection, status, "text/plain; charset=utf-8", why, strlen(why), MHD_RESPMEM_PERSISTENT,
                   allowed);
}

/* Whether HOST, from a Host or Origin header, is this server: a loopback name with our port. */
static bool is_our_host(const struct server *server, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char ours[64];
    for (size_t i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(ours, sizeof(ours), "%s:%u", names[i], server->port);
        if (strcasecmp(host, ours) == 0 || (server->port == 80 && strcasecmp(host, names[i]) == 0))
            return true;
    }
    return false;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether a page of another site causes the request. Origin names that page. Browsers leave it out for
 * embedded content such as pictures, but Sec-Fetch-Site then says where the page is from. Other sites may
 * link to our page, but not to replies. */
static bool is_foreign(const struct server *server, struct MHD_Connection *connection, bool is_api)
{
    const char *origin = header_of(connection, MHD_HTTP_HEADER_ORIGIN);
    const char *site = header_of(connection, "Sec-Fetch-Site");
    if (origin != NULL && (strncasecmp(origin, "http://", 7) != 0 || !is_our_host(server, origin + 7)))
        return true;
    return is_api && site != NULL && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot != NULL && strcmp(dot, ".js") == 0)
        return "text/javascript; charset=utf-8";
    return dot != NULL && strcmp(dot, ".css") == 0 ? "text/css; charset=utf-8" : "text/html; charset=utf-8";
}

/* Names are compared, never opened, so no path leads to other files. */
static enum MHD_Result reply_file(struct MHD_Connection *connection, const char *path)
{
    const char *name = strcmp(path, "/") == 0            ? "index.html"
                       : strncmp(path, "/page/", 6) == 0 ? path + 6
                                                         : "";
    struct buffer sheet = {0};
    if (strcmp(name, "colors.css") == 0) {
        style_sheet(&sheet);
        return respond(connection, MHD_HTTP_OK, type_of(name), sheet.bytes, sheet.used, MHD_RESPMEM_MUST_FREE,
                       NULL);
    }
    for (const struct page_file *file = page_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return respond(connection, MHD_HTTP_OK, type_of(name), file->bytes, file->size,
                           MHD_RESPMEM_PERSISTENT, NULL);
    return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n", NULL);
}

static enum MHD_Result take_parameter(void *closure, enum MHD_ValueKind kind, const char *key,
                                      const char *value)
{
    struct request *request = closure;
    if (request->count == REQUEST_PARAMETERS_MAX)
        return MHD_NO;
    request->parameters[request->count].key = key;
    request->parameters[request->count++].value = value != NULL ? value : "";
    return MHD_YES;
}

/* A connection that the client has closed, even in one direction, does not wait for a reply. */
static bool is_waiting(const struct request *request)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->asker, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct pollfd connection = {.fd = info != NULL ? info->connect_fd : -1, .events = POLLRDHUP};
    return poll(&connection, 1, 0) <= 0 || (connection.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

static enum MHD_Result reply_api(struct server *server, struct MHD_Connection *connection, const char *path)
{
    struct request request = {.path = path, .is_waiting = is_waiting, .asker = connection};
    struct json json = {0};
    const char *type;
    unsigned status;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, &request);
    status = api_ask(server->view, &request, &json, &type);
    return respond(connection, status, type, json.text.bytes, json.text.used, MHD_RESPMEM_MUST_FREE, NULL);
}

/* libmicrohttpd calls it with the headers, then with each part of the upload, then without one. */
static enum MHD_Result handle(void *closure, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    struct server *server = closure;
    bool is_api = strncmp(path, "/api/", 5) == 0, is_deed = strcmp(path, API_DEED) == 0;
    /* A link or picture on another page can cause a GET, but a POST always names its origin. */
    if (is_deed ? strcmp(method, "POST") != 0 : strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, is_deed ? "Only POST.\n" : "Only GET.\n",
                      is_deed ? "POST" : "GET, HEAD");
    if (!is_our_host(server, header_of(connection, MHD_HTTP_HEADER_HOST)))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "This server accepts requests to localhost only.\n",
                      NULL);
    if (is_foreign(server, connection, is_api))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "This server accepts requests of its own page only.\n",
                      NULL);
    if (is_deed && (*state == NULL || *upload_size > 0)) {
        *state = server;
        *upload_size = 0; /* ignored */
        return MHD_YES;
    }
    if (is_api)
        return reply_api(server, connection, path);
    return reply_file(connection, path);
}

struct server *server_start(struct view *view, unsigned port, struct fail *fail)
{
    struct server *server = alloc_zero(1, sizeof(*server));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    const union MHD_DaemonInfo *info;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->view = view;
    server->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, handle,
        server, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS, MHD_OPTION_END);
    info = server->daemon != NULL ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (info == NULL) {
        fail_set(fail, "cannot listen on port %u of the loopback address: %s", port, strerror(errno));
        free(server);
        return NULL;
    }
    server->port = info->port;
    return server;
}

unsigned server_port(const struct server *server)
{
    return server->port;
}

void server_stop(struct server *server)
{
    MHD_stop_daemon(server->daemon);
    free(server);
}
