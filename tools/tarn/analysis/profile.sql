-- Weights are of samples: their time, their number, or what was counted. $NOW has the chosen one and the sum of all.
--: analysis profile: time of CPUs, by sampling: functions, lines, call chains
--: option weight WHAT=source|time|samples|instructions|counted: weight of a sample: time, samples, instructions (if the CPUs count them),
--:  counted (what the hardware counter counted that drove the sampling), or source: counted if a counter drove it, else time (the
--:  default)\nIt applies to shares, folded stacks and flame graphs
--: option least PERCENT: omit branches of calls and callers below this share (1)
--: option folded: print folded stacks: one line per call chain, with its weight (times in nanoseconds)\nFunctions are separated by
--:  semicolons; those of the kernel end in `_[k]`
--: option flame FILE: write a flame graph as SVG; -: standard output\nIn a browser, a click zooms in to a box, and `/` searches
--: symbols
--: define FACT SELECT value FROM trace WHERE name =
--: define NOW (SELECT unit, ($FACT 'sampling_counts_instructions') = '1' AS has_instructions, counter, all_samples, all_counted,
--:  CASE unit WHEN 'time' THEN time WHEN 'samples' THEN all_samples WHEN 'instructions' THEN all_instructions ELSE all_counted END AS whole
--:  FROM (SELECT *, iif(:weight <> 'source', :weight, iif(all_counted > 0, 'counted', 'time')) AS unit,
--:  iif(all_counted > 0, ($FACT 'sampling_counter'), NULL) AS counter
--:  FROM (SELECT total(samples) AS all_samples, total(dur) AS time, total(instructions) AS all_instructions, total(counted) AS all_counted
--:  FROM threads))) AS now
-- ENDS says which rows of frames are the function that was sampled, or the end of the chain.
--: define WEIGHTS sum(ends * samples) AS samples, sum(ends * dur) AS dur, sum(ends * instructions) AS instructions,
--:  sum(ends * counted) AS counted, sum(samples) AS total_samples, sum(dur) AS total_dur, sum(instructions) AS total_instructions,
--:  sum(counted) AS total_counted
--: define OWN CASE unit WHEN 'time' THEN dur WHEN 'samples' THEN samples WHEN 'instructions' THEN instructions ELSE counted END
--: define TOTAL CASE unit WHEN 'time' THEN total_dur WHEN 'samples' THEN total_samples WHEN 'instructions' THEN total_instructions
--:  ELSE total_counted END
--: define SUMS sum(samples), sum(dur), coalesce(100.0 * sum($OWN) / whole, 0.0), iif(has_instructions, sum(instructions), NULL)
--: define SUMS_COLUMNS samples, time_ns, share_percent:real, instructions
--: define MODES total(dur * (1 - is_kernel)), total(dur * is_kernel)
--: define EXECUTABLE iif(executable = '', '(no executable)', executable)
-- The nodes of the tree that WANTED names, each before those below it, heavy branches first. A node is the path of functions to it.
--: define STEP replace(replace(calls.name, ';', ':'), char(10), ':') || iif(calls.is_kernel, '_[k]', '')
--: define NODES numbered AS (SELECT *, dense_rank() OVER (ORDER BY name, executable, is_kernel) AS function FROM frames),
--:  paths AS (SELECT numbered.*, least, iif(tree = 'calls', level = 0, is_kernel IS NULL) AS ends,
--:  group_concat('/' || function, '') OVER (PARTITION BY stack ORDER BY iif(tree = 'calls', -level, level)) AS node FROM numbered, wanted),
--:  nodes AS (SELECT node, substr(node, 1, length(node) - length('/' || function)) AS parent, name, executable, is_kernel, least, $WEIGHTS
--:  FROM paths GROUP BY node),
--:  calls AS MATERIALIZED (SELECT *, $OWN AS own, $TOTAL AS total FROM nodes JOIN $NOW WHERE 100.0 * $TOTAL >= least * whole)
--: define TREE $NODES,
--:  found AS (SELECT *, 0 AS depth, $STEP AS path FROM calls WHERE parent = '' UNION ALL
--:  SELECT calls.*, depth + 1, path || ';' || $STEP FROM found CROSS JOIN calls ON calls.parent = found.node ORDER BY depth DESC, total DESC, name)
--: define CALLS SELECT name, total_dur, 100.0 * total / whole, dur, samples, depth, executable, depth FROM found
--: define CALLS_COLUMNS total_ns:one, total_percent:mean, self_ns, samples, depth:id, executable:text
--: column counted: count of the hardware counter that drove the sampling; empty: the clock drove it
--: column counter: hardware counter that drove the sampling; empty: the clock drove it
--: column depth: number of functions above it in the tree
--: column executable: program that contains the code, or the kernel
--: column instructions: instructions executed, estimated from samples; empty: the CPUs do not count them
--: column kernel_ns: time of samples in the kernel
--: column late_max_ns: longest delay of a sample
--: column late_p50_ns: median delay of samples: from the due time until the sample was taken
--: column late_p99_ns: 99th percentile of the delay of samples
--: column mode: user: in a program; kernel: in the kernel
--: column period_count: mean count between two samples of a CPU, if a hardware counter drives the sampling
--: column period_ns: mean time between two samples of a CPU
--: column programs_ns: time of samples in programs
--: column samples: number of samples
--: column samples in callers: samples in the innermost function, reached along this branch
--: column samples in calls, function: samples in the function itself, without its callees
--: column self_ns: time of the samples in the function itself, without its callees
--: column self_percent: share of all samples, by --weight, in the function itself
--: column share_percent: share of all samples, by --weight
--: column time_ns: time that CPUs worked, estimated from samples
--: column total_ns: time of the samples in the function and its callees
--: column total_percent: share of all samples, by --weight, in the function or its callees
CREATE VIRTUAL TABLE threads USING fold(sample, by utid, by is_kernel, count as samples, sum dur, sum instructions, sum counted);
CREATE VIRTUAL TABLE lateness USING fold(sample, spread late_dur as late);
CREATE VIRTUAL TABLE frames USING fold(sample_frame, by stack, by level, keep name, keep executable, keep is_kernel, keep file, keep line,
                                       keep samples, keep dur, keep instructions, keep counted);
-- A chain counts once for a function, even if it contains it several times.
CREATE VIEW functions AS
WITH once AS (SELECT *, min(level) = 0 AS ends FROM frames WHERE is_kernel IS NOT NULL GROUP BY stack, name, executable, is_kernel)
SELECT name, executable, is_kernel, $WEIGHTS FROM once GROUP BY name, executable, is_kernel;
--: answer
SELECT sum(samples) || ' samples' || coalesce(', which ' || counter || ' drove,', '') || ' of ' || amount(sum(dur)) || ' of work, taken ' ||
       amount((SELECT percentile(late, 50) FROM lateness)) || ' late (median), ' || amount((SELECT percentile(late, 99) FROM lateness)) ||
       ' (p99). ' || coalesce((SELECT process_name(thread_pid(utid)) || ' used most, ' || digits(100.0 * sum($OWN) / whole) || ' %'
       FROM threads JOIN $NOW WHERE whole > 0 GROUP BY thread_pid(utid) ORDER BY sum($OWN) DESC LIMIT 1), '') ||
       coalesce((SELECT '; of functions, ' || name || coalesce(' of ' || nullif(executable, ''), '') || ', ' || digits(100.0 * $OWN / whole) || ' %'
                 FROM functions JOIN $NOW ORDER BY $OWN DESC LIMIT 1), '') || '.'
FROM threads JOIN $NOW HAVING sum(samples) > 0;
--: table total, all, totals: all samples
--: columns samples, time_ns, programs_ns, kernel_ns, period_ns:one, late_p50_ns:one, late_p99_ns:one, late_max_ns:max, instructions,
--:  counted, period_count:id, counter:text
WITH period(ticks) AS (SELECT nullif(CAST(value AS INTEGER), 0) FROM trace WHERE name = 'sampling_period')
SELECT '', total(samples), total(dur), $MODES, iif(counter IS NULL, ns(ticks), NULL), coalesce(percentile(late, 50), 0),
       coalesce(percentile(late, 99), 0), coalesce(percentile(late, 100), 0), iif(has_instructions, total(instructions), NULL),
       iif(counter IS NOT NULL, all_counted, NULL), iif(counter IS NOT NULL, ticks, NULL), counter
FROM $NOW JOIN period LEFT JOIN lateness LEFT JOIN threads;
--: table process, process, processes, by share_percent: time of each process
--: columns pid:id, $SUMS_COLUMNS, programs_ns, kernel_ns
SELECT process_name(thread_pid(utid)), thread_pid(utid), $SUMS, $MODES FROM threads JOIN $NOW GROUP BY 2;
--: table thread, thread, threads, by share_percent, extra: time of each thread
--: columns tid:id, pid:id, $SUMS_COLUMNS, programs_ns, kernel_ns
SELECT thread_name(utid), thread_tid(utid), thread_pid(utid), $SUMS, $MODES FROM threads JOIN $NOW GROUP BY utid;
--: table executable, executable, executables, by share_percent: time in each executable
--: columns $SUMS_COLUMNS
SELECT $EXECUTABLE, $SUMS FROM functions JOIN $NOW WHERE samples > 0 GROUP BY 1;
--: table function, function, functions, by self_percent: time in each function itself, and with its callees; inlined functions count
--:  separately
--: columns samples, self_ns, self_percent:real, total_ns:one, total_percent:mean, instructions, executable:text, mode:text
SELECT name, samples, dur, coalesce(100.0 * $OWN / whole, 0.0), total_dur, coalesce(100.0 * $TOTAL / whole, 0.0),
       iif(has_instructions, instructions, NULL), $EXECUTABLE, iif(is_kernel, 'kernel', 'user') FROM functions JOIN $NOW;
--: table line, line, lines, by share_percent: time in each source line
--: columns $SUMS_COLUMNS, function:text, executable:text
SELECT file || ':' || line, $SUMS, name, executable FROM frames JOIN $NOW WHERE level = 0 AND line > 0
GROUP BY name, executable, is_kernel, file, line;
--: table calls, calls from the outermost, calls, extra, whole: tree of calls from the outermost function
--: columns $CALLS_COLUMNS
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, coalesce(:least, 1.0) + 0 AS least), $TREE $CALLS;
--: table callers, callers of the innermost, callers, extra, whole: tree of callers from the innermost function
--: columns $CALLS_COLUMNS
WITH RECURSIVE wanted AS (SELECT 'callers' AS tree, coalesce(:least, 1.0) + 0 AS least), $TREE $CALLS;
--: table lateness, late, ranges, extra, histogram together(late) FROM lateness: histogram of sampling delays
-- A flame graph (Gregg's) in one SVG file: the width of a box is its share of the whole; the functions that it calls are above it. In a
-- browser, the script zooms and searches; elsewhere it is a static picture. Lengths are pixels at its original size, with 1180 for the
-- whole and 17 for a row; of boxes, x and width are shares of the whole, from which the script computes all lengths. Boxes narrower than
-- 0.2 are left out, with all that is above them. A function has the same colour everywhere: warm for programs, cold for the kernel.
--: print flame
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, 0 AS least), $NODES,
placed AS MATERIALIZED
(SELECT * FROM (SELECT *, 1.0 * total / whole AS part,
                       1.0 * (sum(total) OVER (PARTITION BY parent ORDER BY total DESC, name ROWS UNBOUNDED PRECEDING) - total) / whole AS place,
                       unicode(name) * 7 + unicode(substr(name, -1)) * 31 + unicode(substr(name, length(name) / 2 + 1)) * 13 AS hash
                FROM calls) WHERE 1180 * part >= 0.2),
boxes(node, depth, name, executable, colour, weight, x, width) AS MATERIALIZED
(SELECT '', 0, 'all', '', 'hsl(0,0%,72%)', whole, 0.0, 1.0 FROM $NOW WHERE whole > 0 UNION ALL
 SELECT placed.node, depth + 1, placed.name, placed.executable, printf('hsl(%d,%d%%,%d%%)', iif(is_kernel, 190, 12) + hash % 38,
        58 + hash / 38 % 20, 64 + hash % 10), total, x + place, part
 FROM boxes CROSS JOIN placed ON placed.parent = boxes.node ORDER BY 2 DESC, 6 DESC, 3),
picture AS MATERIALIZED (SELECT *, 17 * deepest + 89 AS height FROM $NOW JOIN (SELECT coalesce(max(depth), 0) AS deepest FROM boxes)),
texts AS (SELECT *, xml(name) AS shown, iif(1180 * width > 19.8, CAST((1180 * width - 6) / 6.6 AS INTEGER), 0) AS fits FROM boxes)
SELECT printf('<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="1200" height="%d" viewBox="0 0 1200 %d">', height, height) FROM picture UNION ALL
SELECT '<style>
svg{background:#fdfdfb;font:11px Verdana,DejaVu Sans,sans-serif}
text{fill:#111;pointer-events:none}.h{font-size:16px;text-anchor:middle}.n,.b{fill:#444}
.b{pointer-events:all;cursor:pointer;text-decoration:underline}
.f{cursor:pointer}.f:hover rect{stroke:#000;stroke-width:1}.m rect{fill:#c03ad6}.p{opacity:.5}
@media (prefers-color-scheme:dark){svg{background:#16181c}.h{fill:#eee}.n,.b{fill:#bbb}
.f:hover rect{stroke:#fff}}
</style>' UNION ALL
SELECT printf('<text class="h" x="600" y="24">%s</text>
<text class="b" id="r" x="10" y="24">whole</text>
<text class="b" id="s" x="1190" y="24" text-anchor="end">search</text>
<text class="n" id="i" x="10" y="%d"> </text>
<text class="n" id="m" x="1190" y="%d" text-anchor="end"> </text>',
              xml(CASE WHEN all_samples = 0 THEN 'No samples' WHEN unit = 'time' THEN 'CPU time' WHEN unit = 'samples' THEN 'Samples'
                  WHEN unit = 'instructions' THEN 'Instructions' ELSE coalesce(counter, 'Counts') END), height - 9, height - 9)
FROM picture UNION ALL
SELECT printf('<g class="f" data-d="%d" data-w="%.12f" data-x="%.12f"><title>%s%s: %s, %.2f %%</title>' ||
              '<rect x="%.2f" y="%d" width="%.2f" height="16" rx="1.5" fill="%s"/><text x="%.2f" y="%d" data-n="%s">%s</text></g>',
              depth, width, x, shown, iif(executable = '', '', ' (' || xml(executable) || ')'),
              iif(unit = 'time', printf('%.3f ms', weight / 1e6), weight || iif(unit = 'samples', ' samples', ' instructions')), 100 * width,
              10 + 1180 * x, 46 + 17 * (deepest - depth), 1180 * width, colour, 13 + 1180 * x, 58 + 17 * (deepest - depth), shown,
              CASE WHEN length(name) <= fits THEN shown WHEN fits > 2 THEN xml(substr(name, 1, fits - 2)) || '..' ELSE '' END)
FROM texts JOIN picture UNION ALL
SELECT '<script><![CDATA[
"use strict";
const svg=document.documentElement,boxes=[...document.querySelectorAll(".f")],W=1180,M=10;
const info=document.getElementById("i"),found=document.getElementById("m");
for(const b of boxes){b.x=+b.dataset.x;b.w=+b.dataset.w;b.d=+b.dataset.d;b.r=b.children[1];b.t=b.children[2];b.name=b.t.dataset.n}
let left=0,part=1,pattern=null;
function zoom(box){left=box.x;part=box.w;
 for(const b of boxes){const under=b.d<box.d&&b.x<=left+1e-9&&b.x+b.w>=left+part-1e-9;
  const x=under?0:(b.x-left)/part,w=under?1:b.w/part,inside=x>-1e-9&&x+w<1+1e-6;
  b.style.display=inside&&w*W>=.2&&(under||b.d>=box.d)?"":"none";b.classList.toggle("p",under);
  b.r.setAttribute("x",M+x*W);b.r.setAttribute("width",w*W);b.t.setAttribute("x",M+3+x*W);
  const fits=w*W>20?Math.floor((w*W-6)/6.6):0;
  b.t.textContent=fits>=b.name.length?b.name:fits>2?b.name.slice(0,fits-2)+"..":""}}
function search(text){pattern=text?new RegExp(text,"i"):null;let sum=0,end=-1;
 const hits=[];for(const b of boxes){const hit=!!pattern&&pattern.test(b.name);b.classList.toggle("m",hit);if(hit)hits.push(b)}
 hits.sort((a,b)=>a.x-b.x||a.d-b.d);for(const b of hits)if(b.x+b.w/2>end){sum+=b.w;end=b.x+b.w}
 found.textContent=pattern?"matched: "+(100*sum).toFixed(2)+" %":""}
function ask(){const text=prompt("Functions to mark (a regular expression):","");
 if(text!==null)try{search(text)}catch(e){alert(e.message)}}
for(const b of boxes){b.onclick=()=>zoom(b);b.onmouseenter=()=>info.textContent=b.children[0].textContent;
 b.onmouseleave=()=>info.textContent=""}
document.getElementById("s").onclick=ask;document.getElementById("r").onclick=()=>zoom(boxes[0]);
addEventListener("keydown",e=>{if(e.key==="/"||(e.ctrlKey&&e.key==="f")){e.preventDefault();ask()}
 else if(e.key==="Escape"){zoom(boxes[0]);search("")}});
]]></script>
</svg>';
--: print folded
WITH RECURSIVE wanted AS (SELECT 'calls' AS tree, 0 AS least), $TREE
SELECT path || ' ' || own FROM found WHERE own > 0;
--: note
SELECT CASE WHEN all_samples = 0 THEN 'the trace has no samples; to take them, boot the guest with trace.profile=1000 or use `tarn ctl ' ||
                                      'SOURCE profile 1000`'
            WHEN unit = 'instructions' AND whole = 0 THEN 'the CPUs of this machine do not count instructions, so samples cannot be ' ||
                                                          'weighted by them'
            WHEN unit = 'counted' AND counter IS NULL THEN 'the clock drove the sampling, so there are no counts; `tarn ctl SOURCE ' ||
                                                           'profile 1000000 instructions` samples by a counter' END AS text
FROM $NOW WHERE text IS NOT NULL;
