--: analysis processes: the tree of processes: lifetimes, exit status, run time
--: column cpu_percent in tree: run time of the process's threads as a share of its lifetime; 100 is one CPU all the time
--: column failed: processes that exited with a status above 0
--: column killed: processes that were killed: exit status below 0
--: column life_ns: lifetime of the processes within the range
--: column max_ns: longest lifetime within the range
--: column mean_ns: total divided by the count
--: column parent_pid: process ID of the process that started it
--: column path: path of the executable
--: column status: exit status; negative: killed; empty: still alive
CREATE VIEW lived AS
WITH runs AS MATERIALIZED (SELECT pid, ns(sum(ran_ticks)) AS ran FROM thread WHERE is_idle = 0 GROUP BY pid)
SELECT process.*, coalesce(ran, 0) AS ran FROM process LEFT JOIN runs USING (pid);
--: answer
SELECT (SELECT count(*) FROM lived WHERE is_selected) || ' processes lived; ' || name || ' (pid ' || pid || ') ran longest: ' || amount(ran) ||
       iif(life_dur > 0, ', ' || digits(100.0 * ran / life_dur) || ' % of its life.', '.')
FROM lived WHERE is_selected AND ran > 0 ORDER BY ran DESC LIMIT 1;
--: table tree, process, processes: the tree of processes
--: columns pid:id, life_ns, ran_ns, cpu_percent:mean, threads, status:signed, parent_pid:id, begin_ns:when, end_ns:when, path:text
WITH RECURSIVE all_of_them AS MATERIALIZED (SELECT * FROM lived),
    -- Depth first. Processes that are not selected have no row and do not indent.
    tree(pid, depth, indent, is_selected, start_ts) AS (
        SELECT pid, 0, 0, is_selected, start_ts FROM all_of_them
        WHERE parent_pid IS NULL OR parent_pid = pid OR parent_pid NOT IN (SELECT pid FROM all_of_them)
        UNION ALL
        SELECT child.pid, depth + 1, indent + tree.is_selected, child.is_selected, child.start_ts
        FROM tree CROSS JOIN all_of_them AS child ON child.parent_pid = tree.pid AND child.pid <> tree.pid
        ORDER BY 2 DESC, 5, 1),
    -- In a damaged trace, processes can be each other's parents.
    listed AS (SELECT pid, indent FROM tree UNION ALL
               SELECT pid, 0 FROM all_of_them WHERE pid NOT IN (SELECT pid FROM tree))
SELECT name, pid, life_dur, ran, iif(life_dur > 0, 100.0 * ran / life_dur, 0.0), threads, status, parent_pid,
       iif(was_created, since_start(start_ts), NULL), since_start(end_ts), path, indent
FROM listed CROSS JOIN all_of_them USING (pid) WHERE is_selected;
--: table program, program, programs, by life_ns: sums by program
--: columns processes, failed, killed, life_ns, mean_ns:one, max_ns:max, ran_ns
SELECT name, count(*), total(status > 0), total(status < 0), sum(life_dur), sum(life_dur) / count(*), max(life_dur), sum(ran)
FROM lived WHERE is_selected GROUP BY name;
