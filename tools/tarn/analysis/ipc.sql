-- A call that is not complete counts only as such.
--: analysis ipc: calls between processes: latency, where time goes, one call's critical path
--: option client PATTERN: only calls of these programs
--: option server PATTERN: only calls to these servers
--: option function PATTERN: only calls of these functions: read, or fs read
--: option request WHICH: follow one of the selected calls through all threads that it waited for: its ID (see --by longest), longest,
--:  longest:N, or at:TIME, the first that begins then\nTIME is as for --from. The time line, `path`, is what the later receiver did until
--:  it received the call, then what it did until the reply, including its own calls in the same way, then what delayed the client.
--:  Successive waits of a thread for a CPU are one row
--: option dot: instead of tables, the graph of calls between programs in Graphviz's language\nThe width of an edge shows the time that
--:  clients spent there
--: define CHOSEN where client glob :client, where server glob :server, where function word :function
--: define BY_RANK (:request = 'longest' OR :request GLOB 'longest:[1-9]*')
--: define IS_CHOSEN NOT is_cut AND coalesce(client GLOB :client, 1) AND coalesce(server GLOB :server, 1)
--:  AND coalesce(function GLOB :function OR function GLOB '* ' || :function, 1)
--: define LATENCY sum(errors), sum(count - cut), ns(sum(dur)), $SPREAD
--: define LATENCY_COLUMNS errors, calls, total_ns, $SPREAD_COLUMNS
--: define PARTS sum(to_server_dur + running_dur + calls_dur + ready_dur + locks_dur + faults_dur + waits_dur + deferred_dur + back_dur)
--: define SUMS sum(errors), sum(count - cut), ns($PARTS), ns($PARTS / sum(count - cut)), sum(to_server_dur), sum(running_dur),
--:  sum(calls_dur), sum(ready_dur), sum(locks_dur), sum(faults_dur), sum(waits_dur), sum(deferred_dur), sum(back_dur)
--: define SUMS_COLUMNS errors, calls, total_ns, mean_ns:one, to_server_ns:part, running_ns:part, its_calls_ns:part, ready_ns:part,
--:  locks_ns:part, faults_ns:part, waits_ns:part, deferred_ns:part, back_ns:part
--: define PAIR coalesce(process_name(client_pid) || ' -> ' || ipc_server(whom), '(others)')
--: define EDGE coalesce(process_name(client_pid) || ' -> ' || ipc_function(whom, label_number), '(others)')
-- The state of a step's thread, in words.
--: define DOING CASE WHEN phase = 'deferred' THEN 'replies later' ||
--:  coalesce(', while it serves ' || serves || coalesce(' of ' || serves_client, ''), '')
--:  ELSE CASE state WHEN 'running' THEN 'runs' || coalesce(CASE activity WHEN 'libc' THEN ', POSIX call ' WHEN 'syscall' THEN ', system call '
--:  WHEN 'fault' THEN ', page fault ' WHEN 'irq' THEN ', interrupt ' WHEN 'ipi' THEN ', IPI ' END || detail, ', ' || activity, '')
--:  WHEN 'ready' THEN 'ready' || coalesce(iif(other_is_idle, ', the CPU wakes up', ' behind ' || other), '') WHEN 'unknown' THEN 'unknown'
--:  ELSE state || coalesce(', woken by ' || other, '') END || coalesce('; serves ' || serves || ' of ' || coalesce(serves_client, 'another'), '') END
--: define SHARE 100.0 * sum(dur) / (SELECT sum(dur) FROM steps)
--: column after_ns: start of the step, since the start of the call
--: column back_ns: time from the reply until the client runs again
--: column call: call that the step belongs to: server and function
--: column calls: calls seen from begin to end
--: column calls in request: nested calls that servers made while they served this one
--: column client_pid: process ID of the caller
--: column client_tid: thread ID of the caller
--: column cut: calls seen only in part
--: column doing: state of the thread: it ran, was ready, or waited, and for which event
--: column errors: calls that failed in the kernel or that the server refused
--: column faults_ns: time in which the server waited for a pager or a fault handler
--: column for: part of the call that the step belongs to
--: column id: the ID of the call, for --request
--: column its_calls_ns: time in which the server was in a call of its own
--: column latency_ns: duration of the call, from call to return
--: column locks_ns: time in which the server waited for a futex: a lock or an event of its program
--: column ready_ns: time in which the server was ready and waited for a CPU
--: column ready_ns in share: time in which threads of the process were ready and the call waited for them
--: column running_ns: time in which the server ran
--: column running_ns in share: time in which threads of the process ran for the call
--: column server_pid: process ID of the server
--: column server_tid: thread that replied
--: column steps: number of steps in the call
--: column waiting_ns: time in which threads of the process waited for something else and the call waited for them
--: column waits_ns: time in which the server waited for something else
CREATE VIRTUAL TABLE edges USING fold(ipc, $CHOSEN, by client_pid, by whom, by label_number, count, sum is_cut as cut,
                                      sum is_error as errors, sum dur unless is_cut, spread dur as whole unless is_cut,
                                      sum to_server_dur, sum running_dur, sum calls_dur, sum ready_dur, sum locks_dur, sum faults_dur,
                                      sum waits_dur, sum deferred_dur, sum back_dur);
--: for longest, request, share, path, step, work
CREATE VIRTUAL TABLE longest USING fold(ipc, $CHOSEN, top 100 dur unless is_cut, keep ts, keep dur, keep client_utid as utid,
                                        keep server_utid, keep call_id, keep whom, keep label_number, keep result);
--: for chain
CREATE VIRTUAL TABLE chains USING fold(ipc_chain, by chain, keep outer, keep client_pid, keep whom, keep label_number);
CREATE VIRTUAL TABLE chained USING fold(ipc, $CHOSEN, where is_cut = 0, by chain, count, sum is_cut as cut, sum is_error as errors,
                                        sum dur, spread dur as whole);
--: after request, share, path, step, work
CREATE TABLE requests AS
SELECT * FROM (SELECT ts, dur, call_id, utid, server_utid, whom, label_number, result FROM longest LIMIT 1 OFFSET substr(:request, 9) - 1)
WHERE $BY_RANK UNION ALL
SELECT * FROM (SELECT ts, dur, call_id, client_utid, server_utid, whom, label_number, result FROM ipc
               WHERE $IS_CHOSEN AND iif(:request LIKE 'at:%', ts >= time_of(substr(:request, 4)),
                                        lower(:request) IN (call_id || '', printf('0x%x', call_id))) ORDER BY ts LIMIT 1)
WHERE NOT $BY_RANK;
--: after request, share, path, step, work
CREATE TABLE steps AS SELECT * FROM ipc_step WHERE call_id = (SELECT call_id FROM requests);
--: answer
WITH sums AS (SELECT sum(count - cut) AS calls, sum(errors) AS errors, sum(cut) AS cut, sum(dur) AS dur FROM edges)
SELECT calls || ' calls took ' || amount(ns(dur)) || coalesce((SELECT '; ' || $EDGE || ' cost its callers most: ' || amount(ns(sum(dur))) ||
       ' in ' || sum(count - cut) || ' calls' FROM edges GROUP BY $EDGE ORDER BY sum(dur) DESC LIMIT 1), '') || '. ' || errors ||
       ' calls failed; ' || cut || ' are incomplete.'
FROM sums WHERE calls NOTNULL;
--: table total, all, totals: all calls
--: columns calls, errors, cut
SELECT '', total(count - cut), total(errors), total(cut) FROM edges;
--: table program, who calls whom, pairs, by total_ns: calls between programs
--: columns $LATENCY_COLUMNS
SELECT $PAIR AS name, $LATENCY FROM edges GROUP BY name HAVING sum(count > cut);
--: table edge, call, edges, by total_ns: calls between programs, by function
--: columns $LATENCY_COLUMNS
SELECT $EDGE AS name, $LATENCY FROM edges GROUP BY name HAVING sum(count > cut);
--: table time, where its time goes, edges, by total_ns, extra: edges, with the parts of their latency
--: columns $SUMS_COLUMNS
SELECT $EDGE AS name, $SUMS FROM edges GROUP BY name HAVING sum(count > cut);
--: table function, function, functions, by total_ns: parts of the latency of each function
--: columns $SUMS_COLUMNS
SELECT coalesce(ipc_function(whom, label_number), '(others)') AS name, $SUMS FROM edges GROUP BY name HAVING sum(count > cut);
--: table server, server, servers, by total_ns, extra: parts of the latency of calls to each server
--: columns $SUMS_COLUMNS
SELECT coalesce(ipc_server(whom), '(others)') AS name, $SUMS FROM edges GROUP BY name HAVING sum(count > cut);
--: table client, client, clients, by total_ns, extra: parts of the latency of each client's calls
--: columns $SUMS_COLUMNS
SELECT coalesce(process_name(client_pid), '(others)') AS name, $SUMS FROM edges GROUP BY name HAVING sum(count > cut);
--: table process, between processes, edges, by total_ns, extra: calls between single processes, including incomplete ones
--: columns $SUMS_COLUMNS, client_pid:id, server_pid:id, cut
SELECT $PAIR AS name, $SUMS, client_pid, ipc_pid(whom) AS server_pid, sum(cut) FROM edges GROUP BY name, client_pid, server_pid;
--: table chain, chain of calls, chains, by total_ns: calls that servers made while they served another call
--: columns $LATENCY_COLUMNS
WITH RECURSIVE links AS MATERIALIZED (SELECT * FROM chains), named(chain, outer, name) AS
(SELECT chain, outer, process_name(client_pid) || ' -> ' || ipc_function(whom, label_number) FROM links WHERE outer IS NULL UNION ALL
 SELECT links.chain, links.outer, name || ' -> ' || ipc_function(whom, label_number) FROM named JOIN links ON links.outer = named.chain)
SELECT name, $LATENCY FROM named JOIN chained USING (chain) WHERE outer IS NOT NULL GROUP BY name;
--: table duration, duration, ranges, extra, histogram together(whole) FROM edges: histogram of latencies
--: table longest, longest calls, calls: the longest calls, with their IDs
--: columns $LONGEST_COLUMNS, id:hex, result:signed
SELECT ipc_function(whom, label_number), $LONGEST, call_id, result FROM longest;
--: table request, request, requests, needs request: the call
--: columns id:hex, at_ns:when, latency_ns, client_tid:id, server_tid:id, calls, steps, result:signed
SELECT thread_name(utid) || ' -> ' || ipc_function(whom, label_number), call_id, since_start(ts), (SELECT sum(dur) FROM steps), thread_tid(utid), thread_tid(server_utid),
       (SELECT count(DISTINCT of_call) - 1 FROM steps), (SELECT count(*) FROM steps), result
FROM requests;
--: table share, process, processes, by total_ns, needs request: whose time it was
--: columns pid:id, total_ns, percent:real, running_ns, ready_ns, waiting_ns
SELECT process, pid, sum(dur), $SHARE, sum(iif(state = 'running', dur, 0)), sum(iif(state = 'ready', dur, 0)),
       sum(iif(state IN ('running', 'ready'), 0, dur)) FROM steps GROUP BY process, pid;
--: table path, thread that worked on it, steps, whole, needs request: the time line of the call; each row begins where the previous one ends
--: columns after_ns:one, duration_ns, tid:id, cpu:id, for:text, call:text, doing:text
-- Successive waits of a thread for a CPU name the first three threads that ran meanwhile.
WITH marked AS (SELECT *, (state = 'ready' AND lag(state) OVER w = state AND lag(tid) OVER w IS tid AND lag(phase) OVER w = phase AND
                           lag(call) OVER w = call) IS NOT TRUE AS is_new FROM steps WINDOW w AS (ORDER BY number)),
     lines AS MATERIALIZED (SELECT *, sum(is_new) OVER (ORDER BY number) AS line FROM marked),
     others AS MATERIALIZED (SELECT line, coalesce(other, '(unknown)') AS name, rank() OVER (PARTITION BY line ORDER BY min(number)) AS place
                             FROM lines GROUP BY line, other),
     queues AS (SELECT line, group_concat(iif(place < 4, name, '...'), ', ') AS queue
                FROM (SELECT * FROM others WHERE place < 5 ORDER BY line, place) GROUP BY line)
SELECT thread, min(after), sum(dur), tid, cpu, phase, call,
       iif(count(*) > 1, 'ready behind ' || queue || ': ' || count(*) || ' intervals', $DOING), depth
FROM lines JOIN queues USING (line) GROUP BY line ORDER BY line;
--: table step, each step, steps, whole, extra, needs request: the same, with each wait for a CPU as a row of its own
--: columns after_ns:one, duration_ns, tid:id, cpu:id, for:text, call:text, doing:text
SELECT thread, after, dur, tid, cpu, phase, call, $DOING, depth FROM steps;
--: table work, where its time went, kinds of work, by total_ns, needs request: the steps of the call, summed up
--: columns doing:text, steps, total_ns, percent:real
SELECT thread, $DOING AS doing, count(*), sum(dur), $SHARE FROM steps GROUP BY thread, doing;
-- The line's width grows with the share of all clients' time.
--: print dot
WITH e AS MATERIALIZED (SELECT process_name(client_pid) AS client, ipc_server(whom) AS server, sum(count - cut) AS calls, sum(dur) AS dur
                        FROM edges WHERE count > cut AND whom IS NOT NULL GROUP BY client, server ORDER BY dur DESC, client, server)
SELECT 'digraph ipc {' UNION ALL SELECT '  rankdir=LR;' UNION ALL SELECT '  node [shape=box, style=rounded];' UNION ALL
SELECT printf('  "%s" -> "%s" [label="%d calls\n%.3f ms\nmean %.1f us", penwidth=%.2f];', replace(replace(client, '\', '\\'), '"', '\"'),
              replace(replace(server, '\', '\\'), '"', '\"'), calls, ns(dur) / 1e6, ns(dur) / 1e3 / calls,
              1 + 6.0 * dur / (SELECT max(sum(dur), 1) FROM e)) FROM e UNION ALL
SELECT '}';
--: note request
SELECT CASE WHEN :request LIKE 'at:%' THEN 'no complete call begins at ' || substr(:request, 4) || ' or later'
            WHEN NOT $BY_RANK THEN 'there is no complete call with the ID ' || :request ||
                                                   '; `tarn ipc --by longest` lists some IDs'
            WHEN count(*) = 0 THEN 'there is no complete call'
            WHEN count(*) = 100 THEN 'longest:N has N up to 100'
            ELSE 'only ' || count(*) || ' of these calls ' || iif(count(*) = 1, 'is', 'are') || ' complete' END
FROM longest WHERE :request IS NOT NULL HAVING NOT EXISTS (SELECT 1 FROM requests);
--: note
SELECT 'no call matches --client, --server and --function; `tarn ipc --top 0` lists all'
WHERE coalesce(:client, :server, :function) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM edges);
