/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api.h - handles the page's requests, which README.md documents: a path and parameters to JSON.
 *
 * Independent of HTTP. Any number of threads may make requests at once. Every request takes a bounded time,
 * except those that walk a range for an analysis: these do not hold the lock, and stop when nobody waits for
 * the reply.
 */
#ifndef TARN_API_H
#define TARN_API_H

#include <tools/tarn/view/json.h>
#include <tools/tarn/view/view.h>

#define REQUEST_PARAMETERS_MAX 32u

struct request {
    const char *path; /* /api/NAME */
    struct {
        const char *key, *value;
    } parameters[REQUEST_PARAMETERS_MAX];
    unsigned count;
    /* Whether a client waits for the reply; NULL: yes. For requests that take long. */
    bool (*is_waiting)(const struct request *request);
    void *asker;
};

bool request_is_waiting(const struct request *request);

#define API_JSON "application/json; charset=utf-8"
#define API_SVG  "image/svg+xml"
#define API_DEED "/api/goto" /* the only request that does something */

/* Returns the HTTP status; other than 200 comes with {"error": why}. JSON is empty before. TYPE is API_JSON,
 * or the type of a picture, whose text is then in JSON. */
unsigned api_ask(struct view *view, const struct request *request, struct json *json, const char **type);

/* ---- for the files of the API ---------------------------------------------------------------------- */

const char *request_text(const struct request *request, const char *key); /* NULL: not given */
/* False: it is given but is not a number up to MOST; sets FAIL. */
bool request_number(const struct request *request, const char *key, uint64_t *number, uint64_t most,
                    struct fail *fail);
/* In nanoseconds since the start, from <= to <= duration, and in ticks. */
struct range {
    uint64_t from, to;
    uint64_t from_ticks, to_ticks;
    uint32_t width; /* pixels */
};
bool request_range(const struct view *view, const struct request *request, struct range *range,
                   struct fail *fail);
/* Parses a list of numbers such as 1,5-7. Returns a bool for each number below LIMIT, freed by the caller,
 * and in FOUND how many are set. A missing list means ALL or none. */
bool *request_set(const struct request *request, const char *key, uint32_t limit, bool all, uint32_t *found);

/* Each fills one reply: an open object, or a picture from its first byte. The lock is held, unless the
 * function takes it itself. False: FAIL. */
typedef bool api_function(struct view *view, const struct request *request, struct json *json,
                          struct fail *fail);
api_function api_trace, api_list, api_search, api_lanes, api_rows, api_marks, api_flags, api_analysis_range,
    api_analyses, api_progress, api_changes, api_flame, api_goto;

/* Adds the state of the link. The lock is held for reading. */
void api_add_link(const struct view *view, struct json *json);
/* Adds the part of /api/trace about `tarn goto`. The lock is held for reading. */
void api_add_goto(const struct view *view, struct json *json);

/* Runs ANALYSIS on the request's range and options, then calls TELL; takes the lock briefly. False: FAIL. */
struct analysis;
struct losses;
typedef bool api_teller(struct analysis *analysis, const struct losses *losses, void *context,
                        struct fail *fail);
bool api_with_analysis(struct view *view, const struct request *request, struct analysis *analysis,
                       api_teller *tell, void *context, struct fail *fail);

#endif
