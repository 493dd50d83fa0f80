"""Checks of tests/host/view_page: flags, names, lanes, the panel, flame graphs, the PNG, and a lost server."""
import json
import os
import re
import time

import end_to_end as e2e
import png
from view_driver import (OUT, TRACE, boxes_of, change, listed, longest_wait, open_page, picture, place, seconds, settle, show, state, text_of,
                         tooltip)
from view_server import View

EXACT = 400000  # events in a range that is shown event by event
SHARED_SET = "tarnView.data.exact(tarnView.state.from, tarnView.state.to)"


def check_flags(page, view, lines):
    """Marked events have flags on their lanes, however many there are."""
    middle, count = len(lines) // 2, 20000
    begin, end = lines[middle][0], lines[middle + count][0]
    kinds = {event["index"]: event["name"] for event in view.ask("trace")["events"] if event["name"] in ("sched_switch", "syscall_entry")}
    cpus = {f"c{cpu['rank']}": f"cpu {cpu['cpu']}" for cpu in view.ask("trace")["cpus"]}
    told, expected = {}, {}
    for lane in view.ask(f"lanes?from={begin}&to={end}&width=800&threads=none&events={','.join(map(str, kinds))}")["lanes"][:len(cpus)]:
        for event, number in zip(lane["flags"][1::3], lane["flags"][2::3]):
            key = cpus[lane["key"]], kinds[event]
            told[key] = told.get(key, 0) + number
    for t, cpu, text in lines:
        name = text.split(":")[0]
        if begin <= t < end and name in kinds.values():
            expected[cpu, name] = expected.get((cpu, name), 0) + 1
    sums = sum(expected.values())
    e2e.check(sums > 400 and told == expected, f"flags: all {sums} marked events are on their processors' lanes", (told, expected))
    show(page, begin, end)
    change(page, "marks: new Map([['syscall_entry', 1], ['sched_switch', 0]]), filter: '', pins: new Set()")
    settle(page)
    lane, t, name = page.value(f"""(() => {{ const flags = {SHARED_SET}.lanes.get('c0').flags;
        const i = flags.findIndex((t, i) => i % 3 === 0 && t >= tarnView.state.from); return ['c0', flags[i], tarnView.trace.events[flags[i + 1]].name]; }})()""")
    x, y = place(page, lane, t)
    page.mouse("mouseMoved", x, y - 5)
    page.wait(f"document.getElementById('tooltip').textContent.includes('{name}')")
    page.click(x, y - 5)
    e2e.check(state(page, "cursor.t") == t, "flags: a flag shows its event, and a click goes exactly there", (state(page, "cursor"), t))
    picture(page, "flags")
    show(page)
    page.wait(f"(tarnView.trace.events_total <= {EXACT}) === (document.getElementById('hidden-marks').textContent === '')")
    show(page, begin, end)
    page.wait(f"document.getElementById('hidden-marks').textContent === '' && {SHARED_SET}?.lanes.get('c0').flags.length > 4")
    e2e.check(True, "flags: too many events for flags are reported")


def check_names(view, duration):
    """Interrupts and lock classes have their names from the trace."""
    rows = listed("lttng_statedump_interrupt,state_lock_class,irq_handler_entry")
    names = {row["fields"]["irq"]: row["fields"]["action"] for row in rows if row["event"] == "lttng_statedump_interrupt"}
    classes = {row["fields"]["lock_class"]: row["fields"]["name"] for row in rows if row["event"] == "state_lock_class"}
    handled = next(row for row in rows if row["event"] == "irq_handler_entry" and row["fields"]["irq"] in names)
    t = handled["ns"] - int(view.ask("trace")["begin_clock_ns"])
    labels = [look[4] for look in view.ask(f"lanes?from={t}&to={t + 1000}&threads=none")["looks"]]
    name = names[handled["fields"]["irq"]]
    e2e.check(any(f"interrupt {name}" in label for label in labels), "an interrupt's box shows its name", (name, labels))
    wait = longest_wait(view, duration, lambda wait: wait["class"] in classes)
    kind = ("" if wait["pid"] else "kernel lock ") + classes[wait["class"]]
    e2e.check(f"waits for\t{kind} " in wait["tip"], "a wait for a lock shows the name of its class", wait)


def check_waits(page, view, duration):
    """Each wait is as its event says: with the name of the lock, even if a walk begins after that was given, and with its holder, even
    if that ended before the waiter logged the wait."""
    trace, names, expected, found, dropped = view.ask("trace"), {}, [], [], 0
    tids, begin = {thread["n"]: thread["tid"] for thread in trace["threads"]}, int(trace["begin_clock_ns"])
    holders = {tid: tid for tid in tids.values()}
    for row in listed("lock_contended,lock_name"):
        fields = row["fields"]
        key = fields["pid"], hex(fields["lock"])
        if row["event"] == "lock_name":
            names[key] = fields["name"]
        elif "tid" in row:
            expected.append((row["ns"] - begin, row["tid"], *key, names.get(key) or None, holders.get(fields["holder_tid"], 0)))
    for part in range(50):
        reply = view.ask(f"lanes?from={duration * part // 50}&to={duration * (part + 1) // 50}&width=4000&threads=0-1023")
        dropped += len(reply["waits"]) >= 2000 or not reply["exact"]
        found += [(wait["end"], tids[wait["thread"]], wait["pid"], wait["lock"], wait.get("name"), tids.get(wait["holder"], 0))
                  for wait in reply["waits"]]
    wrong = set(expected).symmetric_difference(found)
    e2e.check(not dropped and len(found) == len(expected) > 10 and not wrong and any(wait[4] for wait in found),
              f"each of {len(found)} waits has its lock, the lock's name and holder", (dropped, len(expected), len(found), list(wrong)[:5]))
    wait = longest_wait(view, duration, lambda wait: "name" in wait and "held by" in wait["tip"])
    show(page, wait["begin"] * 2 - wait["end"], wait["end"] * 2 - wait["begin"])
    change(page, f"pins: new Set(['t{wait['thread']}', 't{wait['holder']}'])")
    settle(page)
    told = tooltip(page, f"t{wait['thread']}", (wait["begin"] + wait["end"]) // 2, f"“{wait['name']}”", name="lock-wait")
    holder = page.value(f"tarnView.trace.threadName({wait['holder']})")
    e2e.check(f"held by {holder}" in told, "a wait for a lock shows its holder", told)
    change(page, "pins: new Set()")


def check_path(page, view):
    """A click on one of the longest calls shows its path; a button returns to the list."""
    calls, settled = "#panel-range tr[title*=follow]", "!document.querySelector('.tables.old')"
    change(page, "selection: null, tab: 'range'")
    show(page)
    page.value("document.querySelector('.analyses input[value=ipc]').click()")
    page.wait(f"document.querySelector('{calls}') && {settled}")
    page.value(f"document.querySelector('{calls}').click()")
    page.wait(f"{settled} && document.querySelectorAll('#panel-range .analysis-table').length === 4")
    wanted = view.ask("analysis?name=ipc&request=longest")["analysis"]["tables"]
    shown = page.value("[...document.querySelectorAll('#panel-range .analysis-table')].map(t => t.querySelectorAll('tbody tr').length)")
    told = text_of(page, "#panel-range .analysis-table")
    e2e.check(shown == [min(25, len(rows)) for rows in wanted.values()] and wanted["request"][0]["id"] in told and
              state(page, "cursor.t") == wanted["request"][0]["at_ns"], "a call is followed through all processes", (shown, told))
    picture(page, "path")
    page.click_on(".range-tools button")
    page.wait(f"document.querySelector('{calls}') && {settled}")
    change(page, "cursor: null, lane: null")


def check_lanes(page):
    """Folded processes show when their threads ran; the filter also finds threads that have no lane."""
    change(page, "marks: new Map(), filter: '', arrows: 'auto', lane: null")
    show(page)
    page.value("document.activeElement.blur()")
    settle(page)
    page.key("X")
    settle(page)
    folded = page.value("""(() => { const rows = tarnView.rows.moving.filter(r => r.kind === 'process');
        return [rows.length, rows.every(r => r.folded), rows[0].key]; })()""")
    column = page.value(f"""(() => {{ const v = tarnView, row = v.rows.row('{folded[2]}'), c = v.timeline.scene;
        const data = c.getContext('2d').getImageData(0, Math.round(v.rows.yOf(row) + row.height - 5), c.width, 1).data;
        const ground = [0, 1, 2].map(i => parseInt(v.colors.background.slice(1 + i * 2, 3 + i * 2), 16));
        let painted = 0;
        for (let i = 0; i < data.length; i += 4)
          painted += Math.abs(data[i] - ground[0]) + Math.abs(data[i + 1] - ground[1]) + Math.abs(data[i + 2] - ground[2]) > 60;
        return painted; }})()""")
    picture(page, "folded")
    # how many pixels: that depends on how long the host let the guest idle
    e2e.check(folded[0] > 3 and folded[1] and column > 3, "X folds all processes, and each shows when its threads ran", (folded, column))
    page.key("X")
    page.wait("tarnView.rows.moving.filter(r => r.kind === 'process').every(r => !r.folded)")
    hidden = page.value("""tarnView.trace.threads.filter(t => !t.idle && !tarnView.rows.row('t' + t.n)).map(t => t.tid)""")
    e2e.check(hidden, "the trace has more threads than get a lane")
    tid = hidden[len(hidden) // 2]
    change(page, f"filter: '{tid}'")
    page.wait(f"tarnView.rows.moving.some(r => r.kind === 'thread' && tarnView.trace.thread(r.n).tid === {tid})")
    e2e.check(True, f"the filter finds a thread without a lane (one of {len(hidden)})")
    change(page, "filter: 'no such thread'")
    page.wait("document.getElementById('empty').textContent.includes('no such thread')")
    change(page, "filter: ''")
    page.wait("document.getElementById('empty').textContent === ''")
    e2e.check(True, "a filter without a match is reported")


def check_flame(page, first, last):
    """The flame graph is the picture of the selected range that tarn profile --flame draws."""
    change(page, f"selection: {{from: {first}, to: {last}}}, tab: 'range'")
    page.value("document.querySelector('.analyses input[value=flame]').click()")
    page.wait("performance.getEntriesByName(document.querySelector('iframe.flame')?.src).length > 0 && !document.querySelector('.tables.old')")
    picture(page, "flame")
    status, out, err = e2e.tarn("profile", "--flame", "-", "--from", seconds(first), "--to", seconds(last), TRACE)
    shown = page.value("fetch(document.querySelector('iframe.flame').src).then((reply) => reply.text())")
    wanted, shown = (re.findall(r"<title>([^<]*)</title>", text) for text in (out, shown))
    e2e.check(status == 0 and len(wanted) > 20 and shown == wanted, "flame graph: of the selected range, as tarn profile --flame draws it",
              (err, shown[:3], wanted[:3]))
    change(page, "selection: null")


def middle_of_arrows(view, duration, span):
    """Returns the middle of a range with calls and with wake-ups by threads, but with at most 50 arrows, so that none is fainter or
    left out."""
    best, middle = 0, duration // 2
    for part in range(40, 400, 4):
        begin = duration * part // 400
        reply = view.ask(f"lanes?from={begin}&to={begin + span}&width=900&threads=0-1023")
        kinds = [kind for source, kind in zip(reply["arrows"][1::5], reply["arrows"][4::5]) if source >= 0]
        found = min(kinds.count(2), kinds.count(0) + kinds.count(1))
        if best < found and len(reply["arrows"]) // 5 <= 50:
            best, middle = found, begin + span // 2
    return middle


# The colours of all pixels of the CPUs' lanes.
CPU_COLOURS = """(() => { const v = tarnView, c = v.timeline.scene, pixels = new Uint32Array(c.getContext('2d').getImageData(0, v.rows.top,
    c.width, v.rows.fixedHeight).data.buffer);
    return [...new Set(pixels)].map(p => '#' + [p, p >> 8, p >> 16].map(b => (b & 255).toString(16).padStart(2, '0')).join('')); })()"""


def draw(name, begin, end, *options):
    """Draws a range as PNG. Returns the colours of the picture: how many pixels have each."""
    path = os.path.join(OUT, f"png-{name}.png")
    status, _, err = e2e.tarn("view", "--png", path, *(("--from", seconds(begin), "--to", seconds(end)) if end else ()), *options, TRACE)
    return png.colours(path) if status == 0 else {"error": err}


def check_png(page, view, duration):
    """`tarn view --png` draws the same picture: in the page's colours, with arrows and waits."""
    change(page, "pins: new Set()")
    programs = page.value("[...new Set(tarnView.rows.moving.filter(r => r.kind === 'thread').map(r => r.color))].slice(0, 5)")
    for name, is_dark in ("dark", True), ("light", False):
        page.dark(is_dark)
        picture(page, name)
        found = draw(name, 0, 0, "--size", "900x700", *(["--dark"] if is_dark else []))
        expected = page.value(f"{json.dumps(programs)}.map(words => tarnView.colors.of(words))") + page.value(
            "[tarnView.colors.background, tarnView.colors.interrupt, tarnView.colors.text]")
        shown = page.value(CPU_COLOURS)
        e2e.check(len(programs) > 3 and len(set(shown).intersection(expected[:len(programs)])) > 3,
                  f"CPUs, {name}: lanes have the colours of programs", (expected, shown))
        e2e.check(len(programs) > 3 and all(found.get(colour, 0) > 3 for colour in expected),
                  f"PNG, {name}: it has the colours of the page", (found.get("error"), programs, expected))
    wait = longest_wait(view, duration, lambda wait: wait["holder"] >= 0)
    tids = ",".join(str(page.value(f"tarnView.trace.thread({wait[who]}).tid")) for who in ("thread", "holder"))
    found = draw("wait", wait["begin"] - 100000, wait["end"] + 100000, "--size", "900x500", "--tid", tids)
    lock = page.value("tarnView.colors.lock")
    e2e.check(found.get(lock, 0) > 60, "PNG: a wait for a lock is drawn to its holder", f"{lock}: {found.get(lock)}")
    middle = middle_of_arrows(view, duration, 2000000)
    found = draw("links", middle - 1000000, middle + 1000000, "--size", "900x900")
    links = page.value("[tarnView.colors.call, tarnView.colors.wakeup]")
    e2e.check(all(found.get(colour, 0) > 3 for colour in links), "PNG: calls and wake-ups are arrows", links)


def check_kernel_work(page, view):
    """A CPU whose idle thread works for the kernel is not idle."""
    duration, found = view.ask("trace")["duration"], None
    for begin in range(0, duration, duration // 30):
        lanes = view.ask(f"lanes?from={begin}&to={begin + duration // 30}&width=8000")
        for lane in lanes["lanes"] if lanes["exact"] else []:
            work = [(box[1] - box[0], lane["key"], box) for box in boxes_of(lane)
                    if box[3] == 1 and lanes["looks"][box[2]][4] == "kernel work"]
            found = max([found, *work] if found else work, default=None)
    length, key, box = found
    show(page, box[0] - length // 2, box[1] + length // 2)
    settle(page)
    page.value("""(() => { window.drawn = []; const draw = window.draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) { window.drawn.push(text); draw.call(this, text, ...place); };
        tarnView.timeline.redraw(); })()""")
    told = tooltip(page, key, box[0] + length // 2, "kernel work", name="kernel-work")
    drawn = page.value("window.drawn")
    e2e.check("idle\n" not in told and "kernel work" in drawn and "idle" not in drawn,
              "what an idle thread does while its CPU is awake is kernel work", (box, told, drawn[:20]))
    page.value("(() => { CanvasRenderingContext2D.prototype.fillText = window.draw; })()")


def check_server_gone(page):
    """The page reports a lost server, and continues when the server is back."""
    with View(TRACE) as view:
        open_page(page, view.address)
        port = re.search(r":(\d+)/", view.address)[1]
    page.wait("document.body.classList.contains('failed') && !document.getElementById('message').hidden", 60)
    told = text_of(page, "#message")
    page.value("tarnView.state.zoom(0.5)")
    time.sleep(0.3)
    picture(page, "server-gone", is_settled=False)
    e2e.check("lost" in told and page.value("tarnView.rows.lanes.length > 4"), "a lost server is reported, and loaded data stays", told)
    with View(TRACE, "--port", port):
        page.wait("!document.body.classList.contains('failed') && document.getElementById('message').hidden", 60)
        e2e.check(True, "when the server is back, the page continues")
        page.open("about:blank")
