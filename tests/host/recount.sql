-- What tarn's analyses must say, from the events alone, without the host tool's model (tests/host/recount.py). Each type of event
-- is a table: `i` is the event's number in the trace, `at` its time in ticks, `on_cpu`, `by_tid` and `by_pid` where and by whom it was
-- logged; then come its fields. Above a query stand the analysis and its table, and the columns that tell its rows apart.
--
-- A column X_ticks has a row for each of the X: how long it took, or NULL if its begin or its end is not in the trace. A figure is
-- 'unknown' if the trace does not say it. `items` is how many times a row adds up: each was rounded to whole nanoseconds.

-- Begins and ends of system calls.
CREATE TABLE edge AS
SELECT i, at, tid, number, 1 AS begins, 0 AS ret FROM syscall_entry UNION ALL SELECT i, at, tid, number, 0, ret FROM syscall_exit;

-- tarn syscalls: call, by name
SELECT name, calls_ticks FROM (SELECT number AS name, begins, iif(NOT lead(begins) OVER w, lead(at) OVER w - at, NULL) AS calls_ticks
                               FROM edge WINDOW w AS (PARTITION BY tid ORDER BY i)) WHERE begins;

-- tarn syscalls: call, by name
SELECT number AS name, sum(NOT begins AND ret < 0) AS errors FROM edge GROUP BY number HAVING sum(begins);

-- Who ran, from switch to switch; `was_in` is the state in which the thread was left.
CREATE TABLE stretch AS
WITH start AS (SELECT min(i) AS i, at, on_cpu, by_tid AS tid, NULL AS was_in FROM trace_context GROUP BY on_cpu
               UNION ALL SELECT i, at, on_cpu, next_tid, prev_state FROM sched_switch)
SELECT i, at, tid, was_in IS NOT NULL AS is_switch, lead(i) OVER w AS end_i, lead(at) OVER w AS until, lead(was_in) OVER w AS was_in
FROM start WINDOW w AS (PARTITION BY on_cpu ORDER BY i);
CREATE INDEX wakeup_of ON sched_wakeup (tid, i);
CREATE INDEX migration_of ON sched_migrate_task (tid, i);
CREATE INDEX quantum_of ON sched_quantum_end (tid, i);

-- tarn threads: thread, by tid
SELECT tid, iif(count(*) > count(until), 'unknown', ns(sum(until - at))) AS running_ns FROM stretch WHERE tid GROUP BY tid;

-- tarn sched: end, by name; others were preempted, and the events do not say alone why
SELECT CASE WHEN was_in <> 'dead' AND EXISTS (SELECT 1 FROM sched_wakeup w WHERE w.tid = s.tid AND w.i BETWEEN s.i AND end_i)
            THEN 'woken before it waited'
            WHEN was_in NOT IN ('running', 'ready') THEN was_in
            WHEN EXISTS (SELECT 1 FROM sched_migrate_task m WHERE m.tid = s.tid AND by_tid = s.tid AND m.i BETWEEN s.i AND end_i)
            THEN 'moved to another CPU'
            WHEN EXISTS (SELECT 1 FROM sched_quantum_end q WHERE q.tid = s.tid AND by_tid = s.tid AND q.i BETWEEN s.i AND end_i)
            THEN 'time slice used up' END AS name, count(*) AS stretches
FROM stretch s WHERE tid AND end_i GROUP BY 1 HAVING name IS NOT NULL;

-- From when a thread is ready until it runs. One that is woken while it is still on a processor, on its way to sleep, is ready when
-- it has left that.
CREATE TABLE wait AS
WITH turn AS (SELECT *, lag(i) OVER w AS before, lag(end_i) OVER w AS left_i, lag(until) OVER w AS left_at, lag(was_in) OVER w AS left_in
              FROM stretch WHERE tid WINDOW w AS (PARTITION BY tid ORDER BY i)),
     known AS (SELECT *, EXISTS (SELECT 1 FROM sched_wakeup w WHERE w.tid = t.tid AND w.i BETWEEN before AND left_i) AS was_woken,
                      (SELECT w.at FROM sched_wakeup w WHERE w.tid = t.tid AND w.i BETWEEN coalesce(left_i, 0) AND t.i ORDER BY w.i LIMIT 1)
                      AS woken_at FROM turn t WHERE is_switch)
SELECT tid, at - iif(left_in <> 'dead' AND (was_woken OR left_in IN ('running', 'ready')), left_at, woken_at) AS ticks,
       was_woken OR coalesce(left_in, '') NOT IN ('running', 'ready') AS is_woken FROM known;

-- tarn sched: thread, by tid
SELECT tid, ticks AS waits_ticks FROM wait WHERE ticks IS NOT NULL;

-- tarn sched: waker, by tid
SELECT tid, count(*) AS wakeups, ns(max(ticks)) AS max_ns FROM wait WHERE is_woken AND ticks IS NOT NULL GROUP BY tid;

-- A processor sleeps from one power_cpu_idle to the next, and boots until it first sleeps or runs a thread.
CREATE TABLE processor AS
WITH whole AS (SELECT on_cpu AS cpu, min(at) AS first, max(at) AS last FROM event GROUP BY on_cpu),
     sleep AS (SELECT on_cpu, at, state, lead(at) OVER w AS until FROM power_cpu_idle WINDOW w AS (PARTITION BY on_cpu ORDER BY i)),
     work AS (SELECT on_cpu, at FROM power_cpu_idle UNION ALL SELECT on_cpu, at FROM sched_switch WHERE next_tid)
SELECT cpu, last - first AS there,
       (SELECT coalesce(sum(coalesce(until, last) - at), 0) FROM sleep WHERE on_cpu = cpu AND state = 1) AS asleep,
       (SELECT coalesce(min(at), last) FROM work WHERE on_cpu = cpu) - first AS boot FROM whole;

-- tarn sched: cpu, by cpu
SELECT cpu, ns(there - asleep) AS busy_ns, ns(asleep) AS idle_ns, ns(boot) AS boot_ns FROM processor;

-- tarn faults: use, by pid, what; a fault without its end is of no kind
WITH edge AS (SELECT i, at, tid, by_pid, NULL AS kind FROM fault_entry UNION ALL SELECT i, at, tid, by_pid, kind FROM fault_exit),
     pair AS (SELECT *, lag(i) OVER w AS before, lag(kind) OVER w AS other, lag(at) OVER w AS begun, lag(by_pid) OVER w AS pid
              FROM edge WINDOW w AS (PARTITION BY tid ORDER BY i))
SELECT pid, kind AS what, at - begun AS faults_ticks FROM pair WHERE kind IS NOT NULL AND before IS NOT NULL AND other IS NULL;

CREATE TABLE interrupt AS
WITH edge AS (SELECT i, at, on_cpu, by_tid, 'irq ' || irq || coalesce(' ' || action, '') AS what, begins
              FROM (SELECT i, at, on_cpu, by_tid, irq, 1 AS begins FROM irq_handler_entry
                    UNION ALL SELECT i, at, on_cpu, by_tid, irq, 0 FROM irq_handler_exit)
              LEFT JOIN (SELECT DISTINCT irq, action FROM lttng_statedump_interrupt) USING (irq)
              UNION ALL SELECT i, at, on_cpu, by_tid, 'ipi ' || kind, 1 FROM irq_ipi_entry
              UNION ALL SELECT i, at, on_cpu, by_tid, 'ipi ' || kind, 0 FROM irq_ipi_exit)
SELECT * FROM (SELECT on_cpu AS cpu, by_tid AS tid, what, begins, iif(NOT lead(begins) OVER w, lead(at) OVER w - at, NULL) AS ticks
               FROM edge WINDOW w AS (PARTITION BY on_cpu, what ORDER BY i)) WHERE begins;

-- tarn irq: irq, by name
SELECT what AS name, ticks AS count_ticks FROM interrupt;

-- tarn irq: cpu, by cpu
SELECT cpu, ticks AS count_ticks FROM interrupt;

-- tarn noise: thread, by tid
SELECT tid, 1 AS items, iif(count(*) > count(ticks), 'unknown', ns(total(ticks) FILTER (WHERE what LIKE 'irq%'))) AS irq_ns,
       iif(count(*) > count(ticks), 'unknown', ns(total(ticks) FILTER (WHERE what LIKE 'ipi%'))) AS ipi_ns
FROM interrupt WHERE tid GROUP BY tid;

-- tarn processes: tree, by pid; others have no begin or no end here
SELECT pid, ns(e.at - c.at) AS life_ns, status FROM process_create c JOIN process_exit e USING (pid) WHERE e.i > c.i;

-- Who waits for a call gets the processor with it: then it is the client who logs that it was received.
-- tarn ipc: function, by name
WITH comm AS (SELECT tid, comm, max(i) FROM (SELECT i, prev_tid AS tid, prev_comm AS comm FROM sched_switch
                                             UNION ALL SELECT i, next_tid, next_comm FROM sched_switch) GROUP BY tid)
SELECT function_of(comm, c.label) AS name, count(*) AS calls, count(*) AS items, ns(sum(e.at - c.at)) AS total_ns
FROM ipc_call c JOIN ipc_return e USING (call_id) JOIN ipc_receive r USING (call_id)
     JOIN comm ON comm.tid = iif(c.server_tid, c.server_tid, r.by_tid) GROUP BY 1;

-- tarn locks: class, by name
SELECT c.name AS name, count(*) AS contentions, count(*) AS items, ns(sum(wait)) AS waited_ns, ns(max(wait)) AS wait_max_ns
FROM lock_contended JOIN (SELECT lock_class, name, max(i) FROM state_lock_class GROUP BY lock_class) c USING (lock_class) GROUP BY c.name;

-- tarn profile: process, by pid
SELECT pid, count(*) AS samples, count(*) AS items, ns(sum(busy)) AS time_ns FROM profile_sample GROUP BY pid;

-- tarn stats: event, by name
SELECT name, count(*) AS events FROM event GROUP BY name;

-- tarn intervals --begin sched_wakeup --end sched_switch --match tid=next_tid: interval, by name
SELECT 'sched_wakeup' AS name, at - begun AS count_ticks FROM
(SELECT at, ends, lag(at) OVER w AS begun, lag(ends) OVER w AS ended FROM
 (SELECT i, at, tid, 0 AS ends FROM sched_wakeup UNION ALL SELECT i, at, next_tid, 1 FROM sched_switch) WINDOW w AS (PARTITION BY tid ORDER BY i))
WHERE ends AND NOT ended;

-- tarn intervals --begin process_create --end process_exit --match pid: interval, by name
SELECT 'process_create' AS name, e.at - c.at AS count_ticks FROM process_create c JOIN process_exit e USING (pid) WHERE e.i > c.i;

-- tarn intervals --begin ipc_call --end ipc_receive --match call_id: interval, by name
SELECT 'ipc_call' AS name, r.at - c.at AS count_ticks FROM ipc_call c JOIN ipc_receive r USING (call_id) WHERE r.i > c.i;
