"""Shared by the tests of the page of `tarn view`: drives the page in a browser, and reads the trace that it shows."""
import collections
import contextlib
import ctypes
import functools
import json
import os
import sys

import end_to_end as e2e
from browser import DRAWN

OUT = e2e.out_directory(os.path.basename(sys.argv[0]))  # of the test
TRACE = OUT / "trace"
# All lanes of CPUs and threads that are in the window have something to draw.
HAS_LANES = """((v) => v.rows.isLoaded && v.rows.visible.filter((row) => row.kind !== 'process')
    .every((row) => v.data.pieces(row.key, v.state.from, v.state.to).length > 0))(tarnView)"""


def analyse(name, *options):
    return e2e.ask(name, *options, TRACE)


def listed(names, *options):
    return list(e2e.events(TRACE, names, *options))


def counts(*options):
    return {row["name"]: row["events"] for row in analyse("stats", *options)["tables"]["event"]}


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


def state(page, what):
    return page.value(f"tarnView.state.{what}")


def change(page, values):
    page.value(f"tarnView.state.change({{{values}}})")


def show(page, begin=0, end="tarnView.state.duration"):
    page.value(f"tarnView.state.show({begin}, {end})")


def text_of(page, selector):
    return page.value(f"document.querySelector({json.dumps(selector)}).textContent")


def open_page(page, address):
    page.open("about:blank")
    page.open(address)
    page.wait("window.tarnView?.timeline.frames.count > 0 && !tarnView.data.isBusy && tarnView.rows.fixed.length > 0")


def place(page, key, t):
    return page.value(f"""(() => {{ const v = tarnView, r = document.getElementById("overlay").getBoundingClientRect();
        const row = v.rows.row({json.dumps(key)}); return [r.x + v.timeline.scale.x({t}), r.y + v.rows.yOf(row) + 9]; }})()""")


def ruler(page, t):
    return page.value(f"""(() => {{ const r = document.getElementById("overlay").getBoundingClientRect();
        return [r.x + tarnView.timeline.scale.x({t}), r.y + 24]; }})()""")


@contextlib.contextmanager
def only_lanes(page):
    """Hides flags and arrows, which cover lanes and have their own tooltips."""
    page.value("(() => { const {marks, arrows} = tarnView.state; window.before = {marks, arrows}; })()")
    change(page, "marks: new Map(), arrows: 'none'")
    page.settle()
    yield
    change(page, "...window.before")


def tooltip(page, key, t, text, y=0, name=None):
    """Points to a time on a lane until the tooltip contains TEXT; takes a picture with that NAME. Returns the tooltip's text."""
    with only_lanes(page):
        x, top = place(page, key, t)
        page.mouse("mouseMoved", x, top + y)
        page.wait(f"!document.getElementById('tooltip').hidden && document.getElementById('tooltip').innerText.includes({json.dumps(text)})")
        if name:
            picture(page, name)
        return page.value("document.getElementById('tooltip').innerText")


def picture(page, name, is_settled=True):
    """Takes a picture when the lanes are drawn. Not settled: of a page that asks again and again."""
    if is_settled:
        page.settle()
    page.wait(HAS_LANES)
    page.value(DRAWN)
    page.screenshot(os.path.join(OUT, name + ".png"))


def boxes_of(lane):
    """Returns a lane's boxes, (begin, end, look, merged): a thread's states, or what a CPU does."""
    boxes, row, end = [], lane["rows"][0], 0
    for gap, length, *rest in zip(*(row[i::4] for i in range(4))):
        boxes.append((end + gap, end + gap + length, *rest))
        end += gap + length
    return boxes


@functools.cache
def lock_waits(view, duration):
    """Returns all waits for locks. Asks for overlapping ranges, so that each wait is complete in one of them."""
    waits = []
    for part in range(99):
        begin, end = duration * part // 100, duration * (part + 2) // 100
        waits += [wait for wait in view.ask(f"lanes?from={begin}&to={end}&width=8000&threads=0-999")["waits"] if wait["begin"] > begin]
    return waits


def longest_wait(view, duration, fits=lambda wait: True):
    return max(filter(fits, lock_waits(view, duration)), key=lambda w: w["end"] - w["begin"])


def colours(path):
    """Returns all colours of a PNG, as #rrggbb, with how many pixels have each. Cairo's library tells, which `tarn view` uses."""
    cairo = ctypes.CDLL("libcairo.so.2")
    read, data_of = cairo.cairo_image_surface_create_from_png, cairo.cairo_image_surface_get_data
    read.restype = data_of.restype = ctypes.c_void_p
    surface = ctypes.c_void_p(read(path.encode()))
    assert cairo.cairo_surface_status(surface) == 0, path
    size = cairo.cairo_image_surface_get_stride(surface) * cairo.cairo_image_surface_get_height(surface)
    pixels = collections.Counter(memoryview(ctypes.string_at(data_of(surface), size)).cast("I"))
    cairo.cairo_surface_destroy(surface)
    return {f"#{pixel & 0xffffff:06x}": count for pixel, count in pixels.items()}
