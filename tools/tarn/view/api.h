/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools/tarn/view/api.h - the questions of the page, as README.md describes them: a path and parameters to
 * JSON.
 *
 * Nothing here knows of HTTP. Any number of threads may ask at once. Each question ends within a bounded time
 * whatever it asks, but those that walk a range for an answer: without the lock, and while somebody waits.
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
    /* Whether somebody waits for the answer; NULL: yes. For questions that take long. */
    bool (*is_waiting)(const struct request *request);
    void *asker;
};

/* Whether somebody waits for the answer. */
bool request_is_waiting(const struct request *request);

#define API_JSON "application/json; charset=utf-8"
#define API_SVG  "image/svg+xml"
#define API_DEED "/api/goto" /* does something, where all others only tell */

/* The HTTP status; other than 200 comes with {"error": why}. JSON is empty before. TYPE: API_JSON; of a
 * picture, whose text is in JSON then, what it is. */
unsigned api_ask(struct view *view, const struct request *request, struct json *json, const char **type);

/* ---- for the files of the API ---------------------------------------------------------------------- */

const char *request_text(const struct request *request, const char *key); /* NULL: not given */
/* False, and FAIL, when it is given but no number up to MOST. */
bool request_number(const struct request *request, const char *key, uint64_t *number, uint64_t most,
                    struct fail *fail);
/* A range of time in nanoseconds since the begin, from <= to <= duration; ticks of both. */
struct range {
    uint64_t from, to;
    uint64_t from_ticks, to_ticks;
};
bool request_range(const struct view *view, const struct request *request, struct range *range,
                   struct fail *fail);
/* The numbers of a list such as 1,5-7 that are below LIMIT: a bool for each; all when it is not given. FOUND
 * gets how many. The caller frees it. */
bool *request_set(const struct request *request, const char *key, uint32_t limit, bool all, uint32_t *found);

/* Each fills one answer, an open object, with the lock held if it does not take it itself. False: FAIL says
 * why. */
typedef bool api_function(struct view *view, const struct request *request, struct json *json,
                          struct fail *fail);
api_function api_trace, api_list, api_search, api_lanes, api_threads, api_marks, api_flags, api_answer_range,
    api_answers, api_progress, api_goto;

/* To /api/trace. With the lock held for reading. */
void api_add_goto(const struct view *view, struct json *json);

/* Fills JSON with a picture, from its first byte; without the lock. */
api_function api_flame;

/* Asks ANSWER, with the options that the request gives, about the request's range, then TELL; takes the lock
 * for a moment. False: FAIL says why. */
struct answer;
struct losses;
typedef bool api_teller(struct answer *answer, const struct losses *losses, void *context, struct fail *fail);
bool api_with_answer(struct view *view, const struct request *request, struct answer *answer,
                     api_teller *tell, void *context, struct fail *fail);

#endif
