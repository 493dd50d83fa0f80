# SPDX-License-Identifier: BSD-2-Clause
"""Shared by the tests of the page of `tarn view`: drives the page in a browser, and reads the trace that it shows."""
import contextlib
import json
import os
import sys

import end_to_end as e2e

OUT = e2e.out_directory(os.path.basename(sys.argv[0]))  # of the test
TRACE = os.path.join(OUT, "trace")


def analyse(name, *options):
    status, out, err = e2e.tarn(name, "--json", *options, TRACE)
    assert status == 0, err
    return json.loads(out)


def counts(*options):
    return {row["name"]: row["events"] for row in analyse("stats", *options)["tables"]["event"]}


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def state(page, what):
    return page.value(f"tarnView.state.{what}")


def open_page(page, address):
    page.open("about:blank")
    page.open(address)
    page.wait("window.tarnView?.timeline.frames.count > 0 && !tarnView.data.isBusy && tarnView.rows.fixed.length > 0")


def settle(page):
    """Waits until all requested data are drawn and the address is updated."""
    page.settle()


def place(page, key, t):
    """Returns the position of a time on a lane, in pixels of the window."""
    return page.value(f"""(() => {{ const v = tarnView, r = document.getElementById("overlay").getBoundingClientRect();
        const row = v.rows.row({json.dumps(key)}); return [r.x + v.timeline.scale.x({t}), r.y + v.rows.yOf(row) + 9]; }})()""")


def ruler(page, t):
    return page.value(f"""(() => {{ const r = document.getElementById("overlay").getBoundingClientRect();
        return [r.x + tarnView.timeline.scale.x({t}), r.y + 24]; }})()""")


@contextlib.contextmanager
def only_lanes(page):
    """Hides flags and arrows, which cover lanes and have their own tooltips."""
    page.value("""(() => { const {marks, arrows} = tarnView.state; window.before = {marks, arrows};
        tarnView.state.change({marks: new Map(), arrows: 'none'}); })()""")
    settle(page)
    yield
    page.value("tarnView.state.change(window.before)")


def picture(page, name, is_settled=True):
    """Not settled: of a page that asks again and again."""
    if is_settled:
        settle(page)
    page.screenshot(os.path.join(OUT, name + ".png"))


def boxes_of(lane):
    """Returns a lane's boxes, (begin, end, look, merged): a thread's states, or what a CPU does."""
    return [lane["rows"][0][i:i + 4] for i in range(0, len(lane["rows"][0]), 4)]


def longest_wait(view, duration, fits=lambda wait: True):
    """Returns the longest wait for a lock that FITS. Asks for overlapping ranges, so that each wait is complete in one of them."""
    waits = []
    for part in range(19):
        begin, end = duration * part // 20, duration * (part + 2) // 20
        waits += [wait for wait in view.ask(f"lanes?from={begin}&to={end}&width=8000&threads=0-999")["waits"]
                  if wait["begin"] > begin and fits(wait)]
    return max(waits, key=lambda w: w["end"] - w["begin"])
