-- Each tick of a thread's life is in one row of the relation time_use.
--: analysis breakdown: time of each thread: own code, calls, faults, servers, waiting
--: define PARTS ns(sum(dur)), sum(iif(part = 'user', dur, 0)), sum(iif(part = 'posix', dur, 0)), sum(iif(part = 'syscalls', dur, 0)),
--:  sum(iif(part = 'faults', dur, 0)), sum(iif(part = 'interrupts', dur, 0)), sum(iif(part = 'kernel_work', dur, 0)),
--:  sum(iif(part = 'idle', dur, 0)), sum(iif(part = 'in_server', dur, 0)), sum(iif(part = 'to_server', dur, 0)),
--:  sum(iif(part = 'deferred', dur, 0)), sum(iif(part = 'ready', dur, 0)), sum(iif(part = 'waits', dur, 0)), sum(iif(part = 'unknown', dur, 0))
--: define PARTS_COLUMNS wall_ns, user_ns:part, posix_ns:part, syscalls_ns:part, faults_ns:part, interrupts_ns:part,
--:  kernel_work_ns:part, idle_ns:part, in_server_ns:part, to_server_ns:part, deferred_ns:part, ready_ns:part, waits_ns:part, unknown_ns:part
--: define USE sum(times), sum(dur), 100.0 * sum(dur) / (SELECT sum(dur) FROM parts WHERE NOT is_open), ns(sum(dur) / sum(times))
--: define USE_COLUMNS kind:key, times, total_ns:share, percent:real, mean_ns:one
--: define USE_TERMS by kind_number, by detail, by whom, keep kind, keep name, sum is_new as times, sum dur
--: define NAME iif(kind IS NULL, '(others)', coalesce(name, ipc_function(whom, detail)))
-- The kind of a page fault is known at its end.
--: define ENDED kind IS NOT 'open page fault'
--: column calls in served: times that a thread worked on the function
--: column fault_count: page faults in the calls
--: column faults_ns: time that the kernel ran in page faults
--: column in_server_ns: time in which a server worked on the thread's call, directly or through servers that it called
--: column interrupts_ns: time in interrupts that arrived while the thread ran
--: column ipc_count: calls by IPC made in the POSIX calls
--: column kernel_work_ns: time of an idle thread while its CPU did not sleep: boot and the kernel's own work
--: column kind: type of activity
--: column mean_ns: total divided by the count
--: column posix_ns: time in the C library's part of POSIX calls
--: column syscalls_ns: time that the kernel ran in system calls
--: column unknown_ns: time for which it is unknown what the thread did, for example after lost events; it may have run
--: column user_ns: time in the thread's own code
--: column waited_ns: time in which the server waited while it worked on the function
--: column waits_ns: time in which the thread waited for a message, a notification, a lock or a time
--: column wall_ns: lifetime within the range; the columns beside it add up to this
CREATE VIRTUAL TABLE parts USING fold(time_use, by utid, by part, by is_open, sum dur);
CREATE VIRTUAL TABLE activities USING fold(time_use, $USE_TERMS);
--: for use, thread_use
CREATE VIRTUAL TABLE uses USING fold(time_use, by utid, $USE_TERMS);
--: for call
CREATE VIRTUAL TABLE calls USING fold(time_use, by context, by kind_number, keep kind, keep part, keep context_name, sum is_new as times, sum dur);
--: for served
CREATE VIRTUAL TABLE functions USING fold(served, by whom, by label, sum is_new as calls, sum running_dur as ran, sum waiting_dur as waited);
--: for process, thread
CREATE VIEW living AS SELECT utid FROM parts WHERE utid IS NOT NULL GROUP BY utid HAVING sum(dur) > 0;
--: answer
WITH sums AS MATERIALIZED (SELECT part, sum(dur) AS dur FROM parts WHERE utid NOTNULL AND part IN
 ('user', 'posix', 'syscalls', 'faults', 'interrupts', 'kernel_work') GROUP BY part ORDER BY dur DESC)
SELECT (SELECT count(*) FROM (SELECT 1 FROM parts WHERE utid NOTNULL GROUP BY utid HAVING sum(dur) > 0)) || ' threads worked ' ||
       amount(ns(sum(dur))) || ' of the ' || (SELECT amount(ns(sum(dur))) FROM parts WHERE utid NOTNULL) || ' that they lived: ' ||
       (SELECT group_concat(digits(100.0 * dur / (SELECT sum(dur) FROM sums)) || ' % ' ||
       CASE part WHEN 'user' THEN 'in their own code' WHEN 'posix' THEN 'in POSIX calls' WHEN 'syscalls' THEN 'in system calls'
       WHEN 'faults' THEN 'in page faults' WHEN 'interrupts' THEN 'in interrupts' ELSE 'for the kernel itself' END, ', ') FROM sums) || '.'
FROM sums HAVING sum(dur) > 0;
--: table total, all, : all
--: columns threads, wall_ns
SELECT 'total', count(DISTINCT iif(dur > 0, utid, NULL)), ns(coalesce(sum(dur), 0)) FROM parts WHERE utid IS NOT NULL;
--: table process, process, processes, by wall_ns: the times above, by process
--: columns pid:id, threads, $PARTS_COLUMNS
SELECT process_name(thread_pid(utid)), thread_pid(utid), count(DISTINCT utid), $PARTS FROM parts WHERE utid IN living GROUP BY 2;
--: table thread, thread, threads, by wall_ns, extra: the times above, by thread
--: columns tid:id, pid:id, $PARTS_COLUMNS
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), $PARTS FROM parts WHERE utid IN living GROUP BY utid;
--: table activity, activity, activities, by total_ns: single activities, with requests to servers by name
--: columns $USE_COLUMNS
SELECT $NAME, kind, $USE FROM activities WHERE $ENDED GROUP BY kind, 1 ORDER BY min(rowid);
--: table use, activity, uses, by total_ns, extra: activities of each process
--: columns $USE_COLUMNS, pid:id, process:key
SELECT $NAME, kind, $USE, thread_pid(utid), process_name(thread_pid(utid)) FROM uses WHERE $ENDED GROUP BY kind, 1, 7 ORDER BY min(rowid);
--: table thread_use, activity, uses, by total_ns, extra: activities of each thread
--: columns $USE_COLUMNS, tid:id, pid:id, thread:key
SELECT $NAME, kind, $USE, thread_tid(utid), thread_pid(utid), thread_name(utid) FROM uses WHERE $ENDED GROUP BY kind, 1, utid ORDER BY min(rowid);
--: table call, in POSIX call, calls, by wall_ns: time in each POSIX call, with its page faults and IPCs
--: columns calls, fault_count, ipc_count, $PARTS_COLUMNS
SELECT iif(context IS NULL, '(none)', context_name), sum(iif(kind = 'POSIX call', times, 0)), sum(iif(kind = 'page fault', times, 0)),
       sum(iif(kind = 'in server', times, 0)), $PARTS
FROM calls WHERE kind IS NOT NULL AND $ENDED GROUP BY context;
--: table served, served, functions, by total_ns: work of server threads, by the function that they served
--: columns pid:id, calls, total_ns, ran_ns:part, waited_ns:part, mean_ns:one
SELECT coalesce(ipc_function(whom, label), '(others)'), whom, calls, ns(ran + waited), ran, waited, ns((ran + waited) / calls) FROM functions;
