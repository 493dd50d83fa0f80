-- Idle threads are left out; `tarn sched` has the idle time.
--: analysis threads: threads: how long they ran, were ready, and waited for what
--: define TIMES_COLUMNS running_ns, ready_ns, waiting_ns, unknown_ns, cpu_percent:real, switches, migrations, wakeups
--: column fault_ns: time in which the thread waited for a pager or a fault handler
--: column futex_ns: time in which the thread waited for a futex: a lock or an event of its program
--: column notification_ns: time in which the thread waited for a notification
--: column receive_ns: time in which the thread waited for a message
--: column reply_ns: time in which the thread waited for the reply to a call
--: column running_ns: time on a CPU
--: column send_ns: time in which the thread waited for a server to receive its message
--: column sleep_ns: time in which the thread slept until a given time
--: column state: state at the end of the range
--: column stretches: number of intervals in the state
--: column suspended_ns: time in which the thread was suspended
--: column unknown_ns: time in which it is unknown whether the thread ran: events were lost, or none was logged yet
--: column waiting_ns: time in which the thread waited for something other than a CPU
--: column wakeups: times that another thread, an interrupt or a timer ended the thread's wait
CREATE VIRTUAL TABLE states USING fold(thread_state, where is_idle = 0, by utid, by state, count, sum dur);
CREATE VIRTUAL TABLE switches USING fold(switch, by utid, count, sum is_migration as migrations);
CREATE VIRTUAL TABLE wakeups USING fold(wakeup, by utid, count);
-- One row for each thread.
CREATE VIEW times AS
WITH counts(utid, what, ticks, times, more) AS (SELECT utid, state, dur, 0, 0 FROM states
         UNION ALL SELECT utid, 'switch', 0, count, migrations FROM switches UNION ALL SELECT utid, 'wakeup', 0, count, 0 FROM wakeups)
SELECT utid, ns(total(ticks) FILTER (WHERE what = 'running')) AS running, ns(total(ticks) FILTER (WHERE what = 'ready')) AS ready,
       ns(total(ticks) FILTER (WHERE what NOT IN ('running', 'ready', 'unknown'))) AS waiting,
       ns(total(ticks) FILTER (WHERE what = 'unknown')) AS unknown, ns(total(ticks) FILTER (WHERE what = 'blocked_ipc_send')) AS send,
       ns(total(ticks) FILTER (WHERE what = 'blocked_ipc_receive')) AS receive, ns(total(ticks) FILTER (WHERE what = 'blocked_reply')) AS reply,
       ns(total(ticks) FILTER (WHERE what = 'blocked_notification')) AS notification,
       ns(total(ticks) FILTER (WHERE what = 'blocked_futex')) AS futex, ns(total(ticks) FILTER (WHERE what = 'sleeping')) AS sleep,
       ns(total(ticks) FILTER (WHERE what = 'blocked_fault')) AS fault, ns(total(ticks) FILTER (WHERE what = 'suspended')) AS suspended,
       CAST(total(times) FILTER (WHERE what = 'switch') AS INTEGER) AS switches, sum(more) AS migrations,
       CAST(total(times) FILTER (WHERE what = 'wakeup') AS INTEGER) AS wakeups
FROM counts GROUP BY utid HAVING total(ticks) > 0;
--: answer
SELECT thread_name(utid) || ' (tid ' || thread_tid(utid) || ') ran longest: ' || amount(running) || ', ' || digits(running / 1e7 / seconds()) ||
       ' % of the time. ' || (SELECT thread_name(utid) || ' (tid ' || thread_tid(utid) || ') waited longest for a CPU: ' || amount(ready)
                              FROM times ORDER BY ready DESC LIMIT 1) || '.'
FROM times ORDER BY running DESC LIMIT 1;
--: table thread, thread, threads, by running_ns: threads
--: columns tid:id, pid:id, $TIMES_COLUMNS, state:text, prio:id, begin_ns:when, end_ns:when
SELECT thread_name(t.utid), thread_tid(t.utid), thread_pid(t.utid), running, ready, waiting, unknown, running / 1e7 / seconds(),
       switches, migrations, wakeups, state, prio,
       since_start(max(start_ts, (SELECT CAST(value AS INTEGER) FROM trace WHERE name = 'begin_ns'))), since_start(end_ts)
FROM times t LEFT JOIN thread ON thread.utid = t.utid;
--: table state, state, states, by total_ns: time in each state
--: columns stretches, total_ns, percent:real
SELECT state, sum(count), ns(sum(dur)), 100.0 * sum(dur) / (SELECT sum(dur) FROM states) FROM states GROUP BY state;
--: table wait, waiting thread, threads, by waiting_ns, extra: causes of the waits of threads
--: columns tid:id, pid:id, waiting_ns, send_ns, receive_ns, reply_ns, notification_ns, futex_ns, sleep_ns, fault_ns, suspended_ns
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), waiting, send, receive, reply, notification, futex, sleep, fault, suspended
FROM times;
--: table process, process, processes, by running_ns, extra: threads of each process
--: columns pid:id, threads, $TIMES_COLUMNS
SELECT process_name(thread_pid(utid)), thread_pid(utid), count(*), sum(running), sum(ready), sum(waiting), sum(unknown),
       sum(running / 1e7 / seconds()), sum(switches), sum(migrations), sum(wakeups) FROM times GROUP BY 2;
