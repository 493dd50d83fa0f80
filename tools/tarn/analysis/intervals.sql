--: analysis intervals: the time between paired events: stopwatches, requests, calls
--: option preset NAME: stopwatch, fs, ipc, ipc-wait, ipc-serve, libc, process, thread, shootdown, syscall, fault, irq, ipi, timer\n
--:  Further options override parts of it. The default is stopwatch
--: option begin EVENT: the event that begins an interval\nThe same event as --end gives the time between successive events
--: option end EVENT: the event that ends it
--: option match FIELDS: fields that must be equal in both events: id, or tid=next_tid where the names differ; several: a,b=c
--: option same WHO: both events come from the same thread, process or cpu, or from any (default: thread, or any with --match)
--: option group FIELD: one row for each value of this field of the begin event
--: define PAIRS interval, where preset = :preset, where begin_event = :begin, where end_event = :end,
--:  where match_fields = :match, where same = :same, where group_by = :group
--: column all_not_begun: ends without a begin, in all groups
--: column all_not_ended: begins without an end, in all groups
--: column count in interval, thread: intervals seen from begin to end
--: column intervals: intervals seen from begin to end
--: column no_room: begins that were not followed because too many intervals were open
--: column not_begun: ends without a begin
--: column not_ended: begins without an end
--: column until_ns: end, since the start of the trace
--: column value: value of the field (--group)
CREATE VIRTUAL TABLE found USING fold($PAIRS, by value, by kind, keep name, count, sum dur, spread dur as whole);
--: for thread
CREATE VIRTUAL TABLE threads USING fold($PAIRS, where kind = whole, by utid, count, sum dur, spread dur as whole);
--: for longest
CREATE VIRTUAL TABLE longest USING fold($PAIRS, top 100 dur, keep name, keep ts, keep dur, keep utid, keep end_ts);
--: for open
CREATE VIRTUAL TABLE opened USING fold($PAIRS, where kind = 'not ended', top 100000 ts, keep name, keep ts, keep utid);
--: define NUMBER_OF total(count) FILTER (WHERE kind
--: define OTHERS_OF nullif(CAST($NUMBER_OF
--: answer
SELECT CAST($NUMBER_OF = 'whole') AS INTEGER) || ' intervals' || coalesce((SELECT '; ' || coalesce(name, '(others)') || ' took longest: ' ||
       amount(ns(sum(dur))) || ' in ' || sum(count) FROM found WHERE kind = 'whole' GROUP BY value, name IS NULL ORDER BY sum(dur) DESC LIMIT 1), '') ||
       coalesce('; ' || $OTHERS_OF IN ('begun anew', 'not ended')) AS INTEGER), 0) || ' did not end', '') ||
       coalesce('; ' || $OTHERS_OF = 'not begun') AS INTEGER), 0) || ' did not begin', '') ||
       coalesce('; ' || $OTHERS_OF = 'no space left') AS INTEGER), 0) || ' were not followed, because too many were open', '') || '.'
FROM found;
--: table total, total, totals: all intervals
--: columns intervals, all_not_ended, all_not_begun, no_room
SELECT '', $NUMBER_OF = 'whole'), $NUMBER_OF IN ('begun anew', 'not ended')), $NUMBER_OF = 'not begun'), $NUMBER_OF = 'no space left') FROM found;
--: table interval, interval, groups, by total_ns: intervals, for each value of --group
--: columns value:id, not_ended, not_begun, count, total_ns, $SPREAD_COLUMNS
SELECT coalesce(name, '(others)'), value, total(count) FILTER (WHERE kind IN ('begun anew', 'not ended')), total(count) FILTER (WHERE kind IN ('not begun')), total(count) FILTER (WHERE kind IN ('whole')),
       ns(sum(dur)), $SPREAD
FROM found WHERE kind <> 'no space left' GROUP BY value, name IS NULL;
--: table thread, thread of the begin, threads, by total_ns, extra: intervals, by thread that logged the begin
--: columns tid:id, pid:id, count, total_ns, $SPREAD_COLUMNS
SELECT coalesce(thread_name(utid), '(others)'), thread_tid(utid), thread_pid(utid), count, ns(dur), $SPREAD FROM threads GROUP BY utid;
--: table duration, duration, ranges, histogram together(whole) FROM found: histogram of durations
--: table longest, longest, intervals: the longest intervals
--: columns $LONGEST_COLUMNS, until_ns:when
SELECT name, $LONGEST, since_start(end_ts) FROM longest;
--: table open, not ended, intervals, by at_ns, extra: begins that were not ended
--: columns at_ns:when, tid:id, pid:id, thread:text
SELECT name, since_start(ts), thread_tid(utid), thread_pid(utid), thread_name(utid) FROM opened;
