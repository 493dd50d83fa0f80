--: analysis stats: events and CPU time, by CPU, class, event, program, process and thread
--: events
--: define EVENTS total(events), coalesce(100 * total(events) / (SELECT sum(events) FROM cpus), 0), total(events) / seconds(), total(bytes)
--: define EVENTS_COLUMNS events, percent:real, events_per_second:real, bytes
--: define TIME sum(ns(ran)), sum(ns(ran)) / 1e7 / seconds()
--: define TIME_COLUMNS ran_ns, cpu_percent:real
--: define KNOWN max(busy_dur + idle_dur + lost_dur, 1)
--: column boot_percent: share of traced time before the CPU first slept or ran a thread; part of busy %
--: column bytes: size of the events in the trace, in bytes
--: column estimated: number of events that the logged ones stand for
--: column estimated_error: 95 % bound of the error of the estimate
--: column events: number of events
--: column events_per_second: events per second of the range
--: column idle_percent: share of traced time in which the CPU slept
--: column lost_percent: share of traced time for which the running thread is unknown because events were lost
--: column one_of: latest sampling factor N: one in N events was logged
CREATE VIRTUAL TABLE types USING fold(event, by number, keep name, keep class, count as events, sum bytes);
CREATE VIRTUAL TABLE loggers USING fold(event, by utid, by cpu_id, count as events, sum bytes);
CREATE VIEW cpus AS SELECT cpu_id, sum(events) AS events, sum(bytes) AS bytes FROM loggers GROUP BY cpu_id;
CREATE VIRTUAL TABLE runs USING fold(sched, where is_idle = 0, by utid, sum dur);
CREATE VIRTUAL TABLE switches USING fold(switch, by utid, count, sum is_migration as migrations);
-- Without a name, a process has that of its threads.
CREATE VIEW threads AS
WITH counts(utid, events, bytes, ran, switches, migrations) AS (SELECT utid, events, bytes, 0, 0, 0 FROM loggers
    UNION ALL SELECT utid, 0, 0, dur, 0, 0 FROM runs UNION ALL SELECT utid, 0, 0, 0, count, migrations FROM switches)
SELECT utid, thread_pid(utid) AS pid, sum(events) AS events, sum(bytes) AS bytes, sum(ran) AS ran, sum(switches) AS switches,
       sum(migrations) AS migrations, coalesce(nullif(nullif(process_name(thread_pid(utid)), '(nameless)'), '(unknown)'), thread_name(utid)) AS process
FROM counts GROUP BY utid HAVING sum(events + ran + switches) > 0;
CREATE VIRTUAL TABLE sampled USING fold(event, where stands_for > 0, by number, max stands_for, sum stands_for as estimated, sum variance);
--: answer
WITH programs AS MATERIALIZED (SELECT process, sum(ran) AS ran, sum(events) AS events FROM threads GROUP BY process)
SELECT 'The CPUs were busy ' || digits(100.0 * sum(busy_dur) / sum($KNOWN)) || ' % of ' || amount(seconds() * 1e9) || ' and logged ' ||
       coalesce((SELECT sum(events) FROM cpus), 0) || ' events' ||
       coalesce((SELECT '; ' || process || ' ran most, ' || amount(ns(ran)) FROM programs ORDER BY ran DESC LIMIT 1), '') ||
       coalesce((SELECT '; ' || process || ' logged most, ' || digits(100.0 * events / (SELECT sum(events) FROM cpus)) || ' % of the events'
                 FROM programs ORDER BY events DESC LIMIT 1), '') || '.'
FROM cpu;
--: table total, total, totals: all events
--: columns events, bytes, events_per_second:real
SELECT '', total(events), total(bytes), total(events) / seconds() FROM cpus;
--: table cpu, CPU, CPUs, by cpu: events and use of each CPU
--: columns cpu:id, busy_percent:mean, boot_percent:mean, idle_percent:mean, lost_percent:mean, switches, $EVENTS_COLUMNS
SELECT 'cpu ' || cpu, cpu, 100.0 * busy_dur / $KNOWN, 100.0 * boot_dur / $KNOWN, 100.0 * idle_dur / $KNOWN, 100.0 * lost_dur / $KNOWN,
       switches, $EVENTS FROM cpu LEFT JOIN cpus ON cpu_id = cpu GROUP BY cpu;
--: table class, event class, classes, by events: event classes
--: columns number:id, $EVENTS_COLUMNS
SELECT class, number >> 16, $EVENTS FROM types GROUP BY 2;
--: table event, event, events, by events: event types
--: columns $EVENTS_COLUMNS
SELECT name, $EVENTS FROM types GROUP BY number;
--: table sampled, sampled event, sampled events, by estimated, extra: events of which one in N was logged, and how many there were
--: columns events, one_of:id, estimated, estimated_error:id
SELECT name, events, stands_for, estimated, $ERROR FROM sampled JOIN types USING (number) WHERE stands_for > 1 GROUP BY number;
--: table program, program, programs, by events: programs: all processes of one name
--: columns processes, $TIME_COLUMNS, $EVENTS_COLUMNS
SELECT process, count(DISTINCT pid), $TIME, $EVENTS FROM threads GROUP BY process;
--: table process, process, processes, by events: processes
--: columns pid:id, $TIME_COLUMNS, $EVENTS_COLUMNS
SELECT process, pid, $TIME, $EVENTS FROM threads GROUP BY pid, process;
--: table thread, thread, threads, by ran_ns: threads
--: columns tid:id, pid:id, $TIME_COLUMNS, switches, migrations, events
SELECT thread_name(utid), thread_tid(utid), pid, $TIME, switches, migrations, events FROM threads WHERE thread_tid(utid) <> 0 GROUP BY utid;
--: note
SELECT 'of ' || count(*) || ' types of events only one in N was logged: --by sampled estimates how many there were'
FROM sampled WHERE stands_for > 1 HAVING count(*) > 0;
