--: analysis syscalls: system calls: how many, how long and why, errors
--: option call PATTERN: only these system calls: ipc_*
--: column arg0: first argument
--: column arg1: second argument
--: column count in error: calls that returned this result
--: column errors: calls that returned an error
--: column meaning: name of the error
--: column number: system call number
--: column what: name of the system call
CREATE VIRTUAL TABLE use USING fold(activity, where kind = syscall, where name glob :call,
                                    by detail, by utid, keep name, sum is_error as errors, $SPAN_TERMS);
CREATE VIRTUAL TABLE failed USING fold(activity, where kind = syscall, where name glob :call, where is_error = 1,
                                       by detail, by result, keep name, count);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(activity, where kind = syscall, where name glob :call, top 100 dur unless is_cut,
                                        keep name, keep ts, keep dur, keep utid, keep arg0, keep arg1, keep result);
--: answer
WITH calls AS MATERIALIZED (SELECT name, sum(count) AS count, sum(self_dur) AS self, sum(dur - self_dur - child_dur) AS waited
                            FROM use WHERE name NOTNULL GROUP BY detail)
SELECT 'System calls took ' || amount(ns(sum(self))) || ' of CPU time, ' || (SELECT name || ' most: ' || amount(ns(self)) || ' in ' ||
       count || ' calls' FROM calls ORDER BY self DESC LIMIT 1) || '. Threads waited ' || amount(ns(sum(waited))) || ' in them, longest in ' ||
       (SELECT name || ': ' || amount(ns(waited)) FROM calls ORDER BY waited DESC LIMIT 1) || '.'
FROM calls HAVING count(*) > 0;
--: table call, system call, calls, by total_ns: system calls
--: columns number:id, errors, calls, $SPAN_COLUMNS
SELECT coalesce(name, '(others)'), detail, sum(errors), $SPAN FROM use GROUP BY detail;
--: table process, process, processes, by total_ns: system calls of each process
--: columns pid:id, errors, calls, $SPAN_COLUMNS
SELECT coalesce(process_name(thread_pid(utid)), '(others)'), thread_pid(utid), sum(errors), $SPAN FROM use GROUP BY 2;
--: table thread, thread, threads, by total_ns, extra: system calls of each thread
--: columns tid:id, pid:id, errors, calls, $SPAN_COLUMNS
SELECT coalesce(thread_name(utid), '(others)'), thread_tid(utid), thread_pid(utid), sum(errors), $SPAN FROM use GROUP BY utid;
--: table use, process, uses, by total_ns, extra: each system call of each process
--: columns pid:id, what:key, errors, calls, $SPAN_COLUMNS
SELECT coalesce(process_name(thread_pid(utid)), '(others)'), thread_pid(utid), name, sum(errors), $SPAN FROM use GROUP BY 2, detail;
--: table error, system call, errors, by count: errors that calls returned
--: columns result:signed, count, meaning:text
SELECT coalesce(name, '(others)'), result, count, error_text(result) FROM failed;
--: table duration, duration, ranges, extra, histogram together(whole) FROM use: histogram of durations
--: table longest, longest calls, calls, extra: the longest calls
--: columns $LONGEST_COLUMNS, arg0:hex, arg1:hex, result:signed
SELECT name, $LONGEST, arg0, arg1, result FROM longest;
--: note
SELECT 'no system call matches --call ' || :call || '; `tarn syscalls --top 0` lists all'
WHERE :call IS NOT NULL AND NOT EXISTS (SELECT 1 FROM use);
