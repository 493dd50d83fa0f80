--: analysis faults: page faults by type, process and place, and how long they took
--: symbols
--: define PLACE_TERMS count, sum dur, max dur as longest
--: define PLACE count, ns(dur), ns(dur / count), ns(longest)
--: define PLACE_COLUMNS faults, total_ns, mean_ns:one, max_ns:max, file:text
--: column address in instruction: address of the faulting instruction
--: column address in longest: accessed address
--: column address in page: address of the page
--: column address in region: address at which the file or memory is mapped
--: column faults: page faults, including those seen only in part
--: column file: file mapped there
--: column ip: address of the faulting instruction
--: column mean_ns in function, instruction, page, region: total divided by the count
--: column number: number of the fault type
--: column source: source file and line
--: column what: type of fault
CREATE VIRTUAL TABLE use USING fold(activity, where kind = fault, by detail, by utid, keep name, $SPAN_TERMS);
--: for region
CREATE VIRTUAL TABLE regions USING fold(activity, where kind = fault, where is_cut = 0, by pid, by mapping, $PLACE_TERMS);
--: for page
CREATE VIRTUAL TABLE pages USING fold(activity, where kind = fault, where is_cut = 0, by pid, by page, $PLACE_TERMS);
--: for instruction, function
CREATE VIRTUAL TABLE instructions USING fold(activity, where kind = fault, where is_cut = 0, by pid, by arg1, $PLACE_TERMS);
--: for longest
CREATE VIRTUAL TABLE longest USING fold(activity, where kind = fault, top 100 dur unless is_cut,
                                        keep name, keep ts, keep dur, keep utid, keep arg0, keep arg1);
--: answer
WITH processes AS MATERIALIZED (SELECT thread_pid(utid) AS pid, sum(count) AS count, sum(dur) AS dur FROM use WHERE utid NOTNULL GROUP BY 1)
SELECT sum(count) || ' page faults took ' || amount(ns(sum(dur))) || ', most in ' || (SELECT process_name(pid) || ' (pid ' || pid || '): ' ||
       amount(ns(dur)) || ' in ' || count FROM processes ORDER BY dur DESC LIMIT 1) || '.'
FROM processes HAVING count(*) > 0;
--: table kind, fault type, kinds, by total_ns: types of faults
--: columns number:id, faults, $SPAN_COLUMNS
SELECT coalesce(name, iif(detail IS NULL, '(others)', '(not seen)')), detail, $SPAN FROM use GROUP BY detail;
--: table process, process, processes, by total_ns: faults of each process
--: columns pid:id, faults, $SPAN_COLUMNS
SELECT coalesce(process_name(thread_pid(utid)), '(others)'), thread_pid(utid), $SPAN FROM use GROUP BY 2;
--: table thread, thread, threads, by total_ns, extra: faults of each thread
--: columns tid:id, pid:id, faults, $SPAN_COLUMNS
SELECT coalesce(thread_name(utid), '(others)'), thread_tid(utid), thread_pid(utid), $SPAN FROM use GROUP BY utid;
--: table use, process, uses, by total_ns, extra: types of faults of each process
--: columns pid:id, what:key, faults, $SPAN_COLUMNS
SELECT coalesce(process_name(thread_pid(utid)), '(others)'), thread_pid(utid), coalesce(name, iif(detail IS NULL, NULL, '(not seen)')),
       $SPAN FROM use GROUP BY 2, detail;
--: table region, process, regions, by total_ns: mapped files and other memory that was accessed
--: columns pid:id, address:hex, $PLACE_COLUMNS
SELECT coalesce(process_name(pid), '(others)'), pid, mapping, $PLACE,
       coalesce(symbol(pid, mapping, 'file'), iif(pid IS NULL, NULL, '(in no file: heap, stack, ...)'))
FROM regions;
--: table page, process, pages, by faults, extra: pages that were accessed
--: columns pid:id, address:hex, $PLACE_COLUMNS
SELECT coalesce(process_name(pid), '(others)'), pid, page, $PLACE, symbol(pid, page, 'file') FROM pages;
--: table instruction, process, instructions, by total_ns, extra: faulting instructions, with their function and line
--: columns pid:id, address:hex, $PLACE_COLUMNS, function:text, source:text
SELECT coalesce(process_name(pid), '(others)'), pid, arg1, $PLACE, symbol(pid, arg1, 'file'), symbol(pid, arg1, 'function'),
       symbol(pid, arg1, 'source')
FROM instructions;
--: table function, function, functions, by total_ns, extra: functions of the faulting instructions
--: columns $PLACE_COLUMNS
SELECT iif(pid IS NULL, '(others)', coalesce(symbol(pid, arg1, 'function'), '(unknown)')) AS name,
       sum(count), sum(ns(dur)), sum(ns(dur)) / sum(count), max(ns(longest)), symbol(pid, arg1, 'file') AS file
FROM instructions GROUP BY name, file;
--: table duration, duration, ranges, histogram together(whole) FROM use: histogram of durations
--: table longest, longest faults, faults, extra: the longest faults
--: columns $LONGEST_COLUMNS, address:hex, ip:hex
SELECT coalesce(name, '(not seen)'), $LONGEST, arg0, arg1 FROM longest;
