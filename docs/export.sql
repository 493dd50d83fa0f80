-- What tarn's analyses say, asked by `tarn sql`, or of the database that `tarn export --format sqlite` writes. tests/host/export
-- runs each query in both ways and compares it with the analysis. Above a query stand the analysis and its table, and the columns that tell its rows apart.
-- `items` is how many times a row adds up: each was rounded to whole nanoseconds.
-- Times are nanoseconds. `utid` tells threads apart: idle threads all have tid 0.

-- tarn stats: event, by name
SELECT name, count(*) AS events FROM event GROUP BY name;

-- tarn stats: cpu, by cpu
SELECT cpu_id AS cpu, count(*) AS events FROM event GROUP BY cpu_id;

-- tarn processes: program, by name
SELECT p.name AS name, count(DISTINCT p.pid) AS processes, count(*) AS items,
       coalesce(sum(t.thread_dur), 0) AS ran_ns
FROM process p LEFT JOIN thread t ON t.pid = p.pid AND NOT t.is_idle GROUP BY p.name;

-- tarn threads: thread, by tid
SELECT tid, count(*) AS items,
       sum(dur * (state = 'running')) AS running_ns,
       sum(dur * (state = 'ready')) AS ready_ns,
       sum(dur * (state NOT IN ('running', 'ready', 'unknown'))) AS waiting_ns
FROM thread_state WHERE tid <> 0 GROUP BY utid;

-- tarn threads: state, by name
SELECT state AS name, count(*) AS stretches, count(*) AS items, sum(dur) AS total_ns
FROM thread_state WHERE NOT is_idle GROUP BY state;

-- tarn sched: cpu, by cpu
SELECT cpu, count(*) AS items, sum(dur * (state = 'running')) AS busy_ns, sum(dur * (state = 'idle')) AS idle_ns
FROM thread_state GROUP BY cpu;

-- tarn sched: thread, by tid
SELECT next_tid AS tid, count(*) AS switches FROM sched_switch WHERE next_tid <> 0 GROUP BY next_tid;

-- tarn breakdown: process, by pid
SELECT pid, count(*) AS items, sum(dur) AS wall_ns FROM thread_state GROUP BY pid;

-- tarn syscalls: call, by name
SELECT name, count(*) AS calls, count(*) AS items, sum(dur) AS total_ns,
       sum(self_dur) AS own_ns, max(CASE WHEN NOT is_cut THEN dur END) AS max_ns
FROM activity WHERE kind = 'syscall' GROUP BY name;

-- tarn faults: kind, by name
SELECT name, count(*) AS faults, count(*) AS items, sum(dur) AS total_ns, sum(self_dur) AS own_ns
FROM activity WHERE kind = 'fault' GROUP BY name;

-- tarn irq: cpu, by cpu
SELECT cpu, count(*) AS count, count(*) AS items, sum(dur) AS total_ns
FROM activity WHERE kind IN ('irq', 'ipi') GROUP BY cpu;

-- tarn ipc: function, by name
SELECT function AS name, count(*) AS calls, count(*) AS items, sum(dur) AS total_ns
FROM ipc WHERE returned_ts IS NOT NULL GROUP BY function;

-- tarn locks: class, by name
SELECT c.name AS name, count(*) AS contentions, count(*) AS items, sum(wait_ns) AS waited_ns,
       max(wait_ns) AS wait_max_ns
FROM lock_contended JOIN lock_class c ON c.number = lock_class GROUP BY c.name;

-- tarn counters: thread, by tid
SELECT tid, count(*) AS items, sum(count0) AS count0, sum(count1) AS count1 FROM counter_run WHERE tid > 0 GROUP BY tid;

-- tarn profile: function, by name, executable, mode
SELECT iif(mode <> 'user' AND function IN ('profile_open_window', 'profile_sleep'), '(interrupts disabled)', function) AS name,
       executable, iif(mode = 'user', 'user', 'kernel') AS mode, count(*) AS samples, count(*) AS items, sum(busy_ns) AS self_ns
FROM profile_sample JOIN place ON place.pid = vpid AND address = ip GROUP BY 1, 2, 3;

-- tarn intervals: interval, by value
SELECT id AS value, count(*) AS count FROM user_stopwatch_stop GROUP BY id;

-- tarn noise: cause, by name; interrupts
SELECT kind || ' ' || a.name || coalesce(' ' || irq.name, '') AS name, count(*) AS times, count(*) AS items,
       sum(a.dur) AS total_ns
FROM activity a JOIN thread USING (utid) LEFT JOIN irq ON kind = 'irq' AND a.detail = irq.number
WHERE kind IN ('irq', 'ipi') AND NOT is_idle GROUP BY kind, a.name;
