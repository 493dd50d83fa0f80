/*
 * api.h - handles the page's requests: a path and parameters to JSON. Each api_NAME.c describes its own.
 *
 * The status is 200, or 400 with {"error": why}. Times are nanoseconds since the start of the trace, below
 * 2^53. A range is from <= t < to; the default is the whole trace. Events have numbers n, from 0, in the
 * order of `tarn list`; threads have numbers, because tids are not unique; CPUs have ranks, indexes in
 * `cpus`. All are valid for one `generation`: when it changes, request /api/trace again. Lists of numbers
 * look like 1,5-7; a missing one means all. Values of fields are texts, because JavaScript numbers cannot
 * represent 64 bits.
 *
 * Any number of threads may make requests at once. Every request takes a bounded time, except for an
 * analysis.
 */
#pragma once

#include <tools/tarn/view/json.h>
#include <tools/tarn/view/view.h>

#define REQUEST_PARAMETERS_MAX 32u

struct request {
    const char *path; /* /api/NAME */
    struct {
        const char *key, *value;
    } parameters[REQUEST_PARAMETERS_MAX];
    unsigned count;
    struct fail fail; /* why it fails; empty: it does not */
    /* Whether a client waits for the reply. For requests that take long. */
    bool (*is_waiting)(const struct request *request);
    void *asker;
};

#define API_JSON "application/json; charset=utf-8"
#define API_SVG  "image/svg+xml"
#define API_DEED "/api/goto" /* the only request that does something */

/* Returns the HTTP status; other than 200 comes with {"error": why}. JSON is empty before. TYPE is API_JSON,
 * or the type of a picture, whose text is then in JSON. */
unsigned api_ask(struct view *view, struct request *request, struct json *json, const char **type);

const char *request_text(const struct request *request, const char *key); /* NULL: not given */
/* Returns OTHERWISE if it is not given, or not a number up to MOST: then the request fails. */
uint64_t request_number(struct request *request, const char *key, uint64_t otherwise, uint64_t most);
/* In nanoseconds since the start, from <= to <= duration, and in ticks. */
struct range {
    uint64_t from, to;
    uint64_t from_ticks, to_ticks;
    uint32_t width; /* pixels */
};
struct range request_range(const struct view *view, struct request *request);
/* Parses a list of numbers such as 1,5-7. Returns a bool for each number below LIMIT, freed by the caller. A
 * missing list means ALL or none. */
bool *request_set(const struct request *request, const char *key, uint32_t limit, bool all);

/* Each fills one reply: an open object, or a picture in its place. The lock is held. False: it fails. */
typedef bool api_function(struct view *view, struct request *request, struct json *json);
api_function api_trace, api_list, api_lanes, api_rows, api_analysis_range, api_analyses, api_changes,
    api_goto;

struct server;

/* PORT 0: any free one. NULL: FAIL. */
struct server *server_start(struct view *view, unsigned port, struct fail *fail);
unsigned server_port(const struct server *server);
/* Returns when all requests in progress have their replies. */
void server_stop(struct server *server);
