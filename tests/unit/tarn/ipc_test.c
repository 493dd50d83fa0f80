/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tests/unit/tarn/ipc_test.c - `tarn ipc` of a trace whose results are known; prints TAP.
 *
 * shop (11, of process 1) asks proc (21, of 2), which asks fs (31, of 3) and waits for a processor and a lock
 * before it refuses; then shop asks fs, which replies when other (12) has asked, too. Names of requests
 * are not given: numbers.
 *
 *     to proc 120 to 173: taken 125; runs to 130, from 139 to 145, 152 to 154, 162 to 170; asks fs from 130
 *             to 139; ready to 152 (other runs) and from 160 to 162; a futex from 154; replies 170
 *
 *     to fs   180 to 205: taken 180, runs from 181 to 183, works on other's from 190, replies 194
 */
#include <stdio.h>
#include <string.h>
#include <tests/unit/tarn/known_results.h>

static const char calls[] =
    "100000 0 trace_context\n"
    "100000 1 trace_context\n"
    "101000 0 process_create pid=1\n"
    "101000 0 process_rename pid=1 name=shop\n"
    "101000 0 process_create pid=2\n"
    "101000 0 process_rename pid=2 name=proc\n"
    "101000 0 process_create pid=3\n"
    "101000 0 process_rename pid=3 name=fs\n"
    "110000 0 sched_switch next_tid=31 next_pid=3 next_comm=fs\n"
    "111000 0 sched_switch prev_tid=31 prev_pid=3 prev_comm=fs prev_state=blocked_ipc_receive next_tid=21 "
    "next_pid=2 next_comm=proc\n"
    "112000 0 sched_switch prev_tid=21 prev_pid=2 prev_comm=proc prev_state=blocked_ipc_receive next_tid=11 "
    "next_pid=1 next_comm=shop\n"
    "120000 0 ipc_call call_id=0x10 label=1000000 endpoint=2\n"
    "121000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=shop prev_state=blocked_ipc_send next_tid=21 "
    "next_pid=2 next_comm=proc\n"
    "125000 0 ipc_receive call_id=0x10 label=1000000 endpoint=2 client_tid=11\n"
    "130000 0 ipc_call call_id=0x11 label=2000000 endpoint=3 server_tid=31\n"
    "130000 0 ipc_receive call_id=0x11 label=2000000 endpoint=3 client_tid=21\n"
    "131000 0 sched_switch prev_tid=21 prev_pid=2 prev_comm=proc prev_state=blocked_reply next_tid=31 "
    "next_pid=3 next_comm=fs\n"
    "136000 0 ipc_reply call_id=0x11 label=7 client_tid=21\n"
    "137000 0 sched_switch prev_tid=31 prev_pid=3 prev_comm=fs prev_state=blocked_ipc_receive next_tid=21 "
    "next_pid=2 next_comm=proc\n"
    "139000 0 ipc_return call_id=0x11 label=7\n"
    "145000 0 sched_switch prev_tid=21 prev_pid=2 prev_comm=proc prev_state=ready next_tid=12 next_pid=1 "
    "next_comm=other\n"
    "152000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=other prev_state=sleeping next_tid=21 next_pid=2 "
    "next_comm=proc\n"
    "154000 0 sched_switch prev_tid=21 prev_pid=2 prev_comm=proc prev_state=blocked_futex next_tid=0\n"
    "160000 0 sched_wakeup comm=proc tid=21\n"
    "162000 0 sched_switch next_tid=21 next_pid=2 next_comm=proc\n"
    "170000 0 ipc_reply call_id=0x10 label=0xfffffffffffffffe client_tid=11\n"
    "171000 0 sched_switch prev_tid=21 prev_pid=2 prev_comm=proc prev_state=blocked_ipc_receive next_tid=11 "
    "next_pid=1 next_comm=shop\n"
    "173000 0 ipc_return call_id=0x10 label=0xfffffffffffffffe\n"
    "180000 0 ipc_call call_id=0x12 label=2000001 endpoint=3 server_tid=31\n"
    "180000 0 ipc_receive call_id=0x12 label=2000001 endpoint=3 client_tid=11\n"
    "181000 0 sched_switch prev_tid=11 prev_pid=1 prev_comm=shop prev_state=blocked_reply next_tid=31 "
    "next_pid=3 next_comm=fs\n"
    "183000 0 sched_switch prev_tid=31 prev_pid=3 prev_comm=fs prev_state=blocked_ipc_receive next_tid=12 "
    "next_pid=1 next_comm=other\n"
    "190000 0 ipc_call call_id=0x13 label=2000002 endpoint=3 server_tid=31\n"
    "190000 0 ipc_receive call_id=0x13 label=2000002 endpoint=3 client_tid=12\n"
    "191000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=other prev_state=blocked_reply next_tid=31 "
    "next_pid=3 next_comm=fs\n"
    "194000 0 ipc_reply call_id=0x12 label=1 client_tid=11\n"
    "194000 0 sched_wakeup comm=shop tid=11\n"
    "196000 0 ipc_reply call_id=0x13 label=1 client_tid=12\n"
    "198000 0 sched_switch prev_tid=31 prev_pid=3 prev_comm=fs prev_state=blocked_ipc_receive next_tid=12 "
    "next_pid=1 next_comm=other\n"
    "200000 0 ipc_return call_id=0x13 label=1\n"
    "203000 0 sched_switch prev_tid=12 prev_pid=1 prev_comm=other prev_state=sleeping next_tid=11 next_pid=1 "
    "next_comm=shop\n"
    "205000 0 ipc_return call_id=0x12 label=1\n"
    "206000 0 ipc_call call_id=0x14 label=2000002 endpoint=3\n"
    "210000 0 user_text text=end\n"
    "210000 1 user_text text=end\n";

static void test_ipc(void)
{
    EXPECT("ipc", NO_OPTIONS, {"edge shop~->~proc~1000000 calls", 1}, {"edge shop~->~proc~1000000 errors", 1},
           {"edge shop~->~proc~1000000 max_ns", 53000}, {"time shop~->~proc~1000000 total_ns", 53000},
           {"time shop~->~proc~1000000 to_server_ns", 5000}, {"time shop~->~proc~1000000 running_ns", 21000},
           {"time shop~->~proc~1000000 its_calls_ns", 9000}, {"time shop~->~proc~1000000 ready_ns", 9000},
           {"time shop~->~proc~1000000 locks_ns", 6000}, {"time shop~->~proc~1000000 faults_ns", 0},
           {"time shop~->~proc~1000000 waits_ns", 0}, {"time shop~->~proc~1000000 deferred_ns", 0},
           {"time shop~->~proc~1000000 back_ns", 3000}, {"function fs~2000000 total_ns", 9000},
           {"function fs~2000000 running_ns", 5000}, {"function fs~2000000 waits_ns", 1000},
           {"function fs~2000000 back_ns", 3000}, {"function fs~2000001 total_ns", 25000},
           {"function fs~2000001 running_ns", 2000}, {"function fs~2000001 waits_ns", 1000},
           {"function fs~2000001 deferred_ns", 11000}, {"function fs~2000001 back_ns", 11000},
           {"program shop~->~fs calls", 2}, {"program proc~->~fs total_ns", 9000}, {"server fs calls", 3},
           {"client shop calls", 3}, {"client proc calls", 1}, {"process shop~->~fs server_pid", 3},
           {"process shop~->~fs cut", 1}, {"chain shop~->~proc~1000000~->~fs~2000000 total_ns", 9000},
           {"chain shop~->~proc~1000000 calls", EXPECT_NO_ROW}, {"longest proc~1000000 duration_ns", 53000},
           {"longest proc~1000000 result", -2}, {"longest proc~1000000 id", 0x10});
    EXPECT("ipc", OPTIONS("server", "f*"), {"client shop calls", 2}, {"server proc calls", EXPECT_NO_ROW});
    EXPECT("ipc", OPTIONS("client", "proc"), {"client proc calls", 1}, {"client shop calls", EXPECT_NO_ROW});
    EXPECT("ipc", OPTIONS("function", "fs 2000001"), {"server fs calls", 1});
    EXPECT("ipc", OPTIONS("function", "1*"), {"server fs calls", EXPECT_NO_ROW}, {"server proc calls", 1});
    EXPECT("ipc", OPTIONS("+tid", "31"), {"server fs calls", 3}, {"server proc calls", EXPECT_NO_ROW});
}

/* "DEPTH THREAD TICKS FOR: DOING" of each step. */
static void expect_path(const char *request, const char *key, const char *const *steps)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask("ipc", OPTIONS("request", request), &filter, &fail);
    const struct table *path = analysis != NULL ? find_table(analysis, key) : NULL;
    size_t count = 0;
    char text[400];

    for (; steps[count] != NULL; count++) {
        if (path == NULL || count >= path->count)
            break;
        snprintf(text, sizeof(text), "%u %s %" PRIu64 " %s: %s", path->rows[count]->indent,
                 path->rows[count]->name, path->rows[count]->cells[1].count / tick_ns,
                 path->rows[count]->cells[4].text, path->rows[count]->cells[6].text);
        check(strcmp(text, steps[count]) == 0, "ipc --request %s: %s: %s", request, key, steps[count]);
        if (strcmp(text, steps[count]) != 0)
            printf("# got %s\n", text);
    }
    check(path != NULL && steps[count] == NULL && count == path->count, "ipc --request %s: %s: %zu rows",
          request, key, count);
    if (analysis != NULL)
        analysis_free(analysis);
}

static void expect_no_request(const char *request, const char *note)
{
    struct fail fail = {""};
    struct filter filter;
    struct analysis *analysis = ask("ipc", OPTIONS("request", request), &filter, &fail);

    check(analysis != NULL && strstr(analysis->note, note) != NULL &&
              find_table(analysis, "path")->count == 0,
          "ipc --request %s: reports that there is none", request);
    if (analysis != NULL)
        analysis_free(analysis);
}

static void test_path(void)
{
    static const char *const refused[] = {"0 shop 1000 calls: runs",
                                          "1 proc 4000 to server: runs",
                                          "1 proc 5000 serves: runs",
                                          "1 proc 1000 serves: runs",
                                          "2 fs 5000 serves: runs",
                                          "2 fs 1000 back: runs",
                                          "1 proc 2000 back: runs",
                                          "1 proc 6000 serves: runs",
                                          "1 proc 7000 serves: ready behind other/12",
                                          "1 proc 2000 serves: runs",
                                          "1 proc 6000 serves: blocked_futex",
                                          "1 proc 2000 serves: ready, the CPU wakes up",
                                          "1 proc 8000 serves: runs",
                                          "1 proc 1000 back: runs",
                                          "0 shop 2000 back: runs",
                                          NULL};
    static const char *const deferred[] = {
        "0 shop 1000 serves: runs",
        "1 fs 2000 serves: runs",
        "1 fs 11000 deferred: replies later, while it serves fs 2000002 of other",
        "0 shop 4000 back: ready behind fs/31",
        "0 shop 5000 back: ready behind other/12",
        "0 shop 2000 back: runs",
        NULL};
    static const char *const folded[] = {
        "0 shop 1000 serves: runs",
        "1 fs 2000 serves: runs",
        "1 fs 11000 deferred: replies later, while it serves fs 2000002 of other",
        "0 shop 9000 back: ready behind fs/31, other/12: 2 intervals",
        "0 shop 2000 back: runs",
        NULL};

    expect_path("0x10", "step", refused);
    expect_path("0x10", "path", refused); /* it is ready behind one thread at a time only */
    expect_path("longest", "path", refused);
    expect_path("longest:2", "step", deferred);
    expect_path("longest:2", "path", folded);
    expect_path("at:0", "step", refused);
    expect_path(tick_ns == 1 ? "at:0.00005" : "at:0.0001", "step", deferred); /* it begins at tick 180000 */
    EXPECT("ipc", OPTIONS("request", "0x10"), {"request shop~->~proc~1000000 latency_ns", 53000},
           {"request shop~->~proc~1000000 calls", 1}, {"request shop~->~proc~1000000 result", -2},
           {"work fs total_ns", 6000}, {"work proc total_ns", 29000}, {"share proc total_ns", 44000},
           {"share proc running_ns", 29000}, {"share proc ready_ns", 9000}, {"share proc waiting_ns", 6000},
           {"share fs running_ns", 6000}, {"share shop running_ns", 3000});
    expect_no_request("0x14", "there is no complete call with the ID 0x14"); /* which does not return */
    expect_no_request("longest:100", "of these calls are complete");
    expect_no_request("at:10", "no complete call begins at 10 or later");
}

static void test_byte_order(const char *order)
{
    open_known(calls, order);
    test_ipc();
    test_path();
    trace_close(&known_trace);
}

int main(void)
{
    return test_both_orders(test_byte_order);
}
