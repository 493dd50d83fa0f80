import {Latest, onFailure} from "./api.js";
import {Colors, IS_DARK} from "./colors.js";
import {LaneData} from "./data.js";
import {byId, element} from "./element.js";
import {EventMenu} from "./event-menu.js";
import {Pointer, keyTable, listenToKeys} from "./input.js";
import {Live} from "./live.js";
import {Names} from "./names.js";
import {Overview} from "./overview.js";
import {AboutPanel, makeHelp} from "./panel-about.js";
import {ListPanel, findEvent, laneChoice, searchPlace} from "./panel-list.js";
import {Counts, MarksPanel} from "./panel-marks.js";
import {RangePanel} from "./panel-range.js";
import {Panel} from "./panel.js";
import {Rows} from "./rows.js";
import {State} from "./state.js";
import {Status} from "./status.js";
import {formatSpan, formatTime, parseTime} from "./time.js";
import {Timeline} from "./timeline.js";
import {Tooltip} from "./tooltip.js";
import {Trace} from "./trace.js";

function tell(text) {
  byId("message").textContent = text;
  byId("message").hidden = text === "";
}

// Shows an error; null clears it.
function fail(error) {
  if (error)
    console.warn(error); // the page shows it, too
  tell(error === null ? "" : error instanceof TypeError
    ? "The connection to tarn view is lost. Loaded data stays; the page continues when the server is back." : error.message);
  document.body.classList.toggle("failed", error !== null);
}

class Page {
  tell = tell;
  #looking = new Latest((wish, signal) => this.#look(wish, signal), (current, {direction, choice}) =>
    JSON.stringify([direction, choice]) !== JSON.stringify([current.direction, current.choice]));
  #progress = ""; // of a search for the next event

  constructor(trace) {
    this.trace = trace;
    this.state = new State();
    this.colors = new Colors(trace);
    this.status = new Status(byId("status"), trace);
    this.rows = new Rows(trace, this.state);
    this.data = new LaneData(trace, this.state, this.rows);
    this.counts = new Counts(trace, this.state);
    this.names = new Names(byId("names"), this.state, this.rows, this.colors, this.counts);
    this.overview = new Overview(byId("overview"), trace, this.state, this.colors, () => this.timeline.redraw());
    this.timeline = new Timeline({area: byId("area"), scene: byId("scene"), overlay: byId("overlay"), scroller: byId("scroller"), trace,
                                  state: this.state, rows: this.rows, data: this.data, names: this.names,
                                  overview: this.overview, tooltip: new Tooltip(byId("tooltip"), trace), colors: this.colors});
    this.eventMenu = new EventMenu(byId("event-menu"), trace, tell);
    this.marksPanel = new MarksPanel(this);
    this.listPanel = new ListPanel(this);
    this.panel = new Panel(this.state, {list: this.listPanel, marks: this.marksPanel, range: new RangePanel(this), info: new AboutPanel(this)});
    this.#connect();
    this.#buttons();
    const keys = keyTable(this.timeline, this);
    makeHelp(byId("help"), keys);
    listenToKeys(keys);
    new Pointer(byId("overlay"), this.timeline);
  }

  // Updates after changes of the state.
  #connect() {
    const {state, rows, data, counts, names, timeline} = this;
    state.on(["from", "to", "duration"], () => {
      rows.follow();
      data.follow();
      counts.follow(this.panel.current === this.marksPanel);
    });
    state.on(["marks"], () => {
      counts.follow(false);
      data.follow();
    });
    state.addEventListener("change", () => {
      timeline.redraw();
      this.#showState();
    });
    rows.onChange = () => {
      names.update();
      byId("scroll-size").style.height = `${rows.movingHeight + rows.movingTop - 34}px`;
      timeline.followScroll();
      this.#hint("hidden-threads", rows.hiddenThreads ? `${rows.hiddenThreads.toLocaleString("en")} more threads: filter to find them` : "");
      byId("empty").style.top = `${rows.movingTop + 16}px`;
      byId("empty").textContent = !rows.isLoaded ? "Loading…" : rows.moving.some((row) => row.kind === "thread" || row.kind === "process") ? ""
        : state.filter ? `No thread of this range matches “${state.filter}”.` : "No thread is active in this range.";
      data.follow();
      timeline.redraw();
    };
    data.onChange = () => {
      timeline.redraw();
      data.follow();
      this.#showState();
    };
    timeline.onArrows = (left) => this.#hint("hidden-arrows", left > 0
      ? `${left.toLocaleString("en")} arrows are hidden: select a lane, zoom in, or press r` : "");
    counts.onChange = () => {
      names.updateMarks();
      this.marksPanel.update();
    };
  }

  start() {
    const {state, trace} = this;
    document.title = `${trace.title} – tarn view`;
    byId("name").textContent = trace.title;
    byId("name").title = trace.name;
    this.#theme();
    this.timeline.start(); // first, so that the first requests fit the window
    const hasRange = /[#&](from|to)=/.test(location.hash);
    state.usual = trace.isReady && !trace.live ? trace.busy : null;
    state.start(Math.max(trace.duration, 1), (key) => trace.hasLane(key));
    this.#aimAtLane();
    addEventListener("popstate", () => this.#aimAtLane());
    const grown = (before) => {
      this.data.grow(before);
      this.overview.refresh();
      this.rows.refresh();
      this.#showState();
    };
    this.status.take(trace.link);
    new Live(trace, state, {grown, replaced: () => this.#replaced(), status: this.status, follows: !hasRange, waits: !hasRange && !state.usual}).run();
  }

  // The files changed, or a program has declared events.
  #replaced() {
    this.data.forget();
    this.listPanel.fill();
    this.marksPanel.show();
    if (this.state.cursor)
      this.state.change({cursor: {t: this.state.cursor.t, n: null}});
  }

  #showState() {
    this.status.update();
    this.#hint("hidden-marks", this.state.marks.size && !this.data.isExact ? "too many events for marks on lanes: zoom in" : "");
    const {state, trace} = this, grain = state.span / 1000;
    byId("range").replaceChildren(`${formatTime(state.from, grain)} – ${formatTime(state.to, grain)} `, element("b", {}, formatSpan(state.span)));
    byId("overview-name").title = byId("whole-length").textContent =
      `${formatSpan(state.duration)}, ${trace.events_total.toLocaleString("en")} events`;
    byId("follow").hidden = !trace.live && !state.follow;
    byId("follow").setAttribute("aria-pressed", state.follow);
    byId("busy").textContent = this.#progress || (trace.indexing ? "indexing…" : "");
    byId("arrows").textContent = `Arrows: ${state.arrows}`;
    if (document.activeElement !== byId("lane-filter"))
      byId("lane-filter").value = state.filter;
    const {cursor, selection} = state;
    this.#hint("cursor-time", [cursor && `cursor ${formatTime(cursor.t)}`,
      selection && `selected ${formatTime(selection.from)} + ${formatSpan(selection.to - selection.from)}`,
      cursor && selection && `cursor ${formatSpan(Math.abs(cursor.t - selection.from))} ${cursor.t < selection.from ? "before" : "after"} its start`]
      .filter(Boolean).join(" · "));
  }

  // Shows a hint in the footer, where it may be truncated.
  #hint(id, text) {
    const node = byId(id);
    if (node.textContent !== text)
      node.textContent = node.title = text;
  }

  #buttons() {
    const {state} = this;
    byId("forward").addEventListener("click", () => history.forward());
    byId("stop").addEventListener("click", () => this.stopLooking());
    byId("lane-filter").addEventListener("input", (event) => state.change({filter: event.target.value}));
    byId("goto-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#goToText(byId("goto").value.trim());
    });
    IS_DARK.addEventListener("change", () => this.#theme());
    for (const kind of ["keydown", "pointerdown"]) // messages refer to the previous action
      addEventListener(kind, () => document.body.classList.contains("failed") || this.tell(""), {capture: true});
  }

  goTo(t) {
    this.state.change({cursor: {t, n: null}});
    this.state.reveal(t);
  }

  // Goes to the time and lane of an event from the server's lists.
  goToEvent(event) {
    const lanes = this.trace.lanesOfEvent(event);
    this.state.change({cursor: {t: event.t, n: event.n, lanes}});
    this.state.reveal(event.t);
    this.timeline.aim(lanes);
  }

  showLane(key) {
    this.state.change({lane: key});
    this.timeline.aim(this.trace.lanesFor(key));
  }

  // The event in the address.
  #aimAtLane() {
    if (this.state.lane)
      this.timeline.aim(this.trace.lanesFor(this.state.lane));
  }

  #goToText(text) {
    const number = /^#\s*(\d+)$/.exec(text), t = parseTime(text), n = Number(number?.[1]), {state, trace} = this;
    if (number && n >= trace.events_total)
      this.tell(`There is no event ${number[1]}: the last is ${trace.events_total - 1}.`);
    else if (number)
      this.look("next", {}, `There is no event ${n}.`, {n});
    else if (t > state.duration)
      this.tell(`The trace ends before that, at ${formatTime(state.duration)}.`);
    else if (!Number.isNaN(t))
      this.goTo(t);
    else if (text) {
      this.panel.open("list");
      this.listPanel.find("next", text);
    }
    byId("goto").blur();
  }

  // Goes to the event after or before the cursor, on the selected lane if there is one.
  step(direction) {
    const {lane} = this.state;
    this.look(direction, laneChoice(this.trace, lane), `There is no ${direction === "next" ? "later" : "earlier"} event${lane ? " on this lane" : ""}.`);
  }

  // Goes to the next or previous event of a choice. none: the message if there is none.
  look(direction, choice, none, place = searchPlace(this.state, direction)) {
    this.#looking.want({direction, choice, none, place});
  }

  async #look({direction, choice, none, place}, signal) {
    try {
      const event = await findEvent(place, direction, choice, signal, (progress) => this.#showProgress(progress));
      if (event)
        this.goToEvent(event);
      else
        this.tell(none);
    } finally {
      this.#showProgress("");
    }
  }

  #showProgress(text) {
    this.#progress = text;
    byId("stop").hidden = text === "";
    this.#showState();
  }

  // Returns whether a search was running.
  stopLooking() {
    const isLooking = this.#looking.isBusy;
    this.#looking.stop();
    return isLooking;
  }

  // Opens the menu of the event at the cursor.
  openEventMenu() {
    const {cursor} = this.state;
    if (cursor && cursor.n !== null)
      this.eventMenu.open(cursor);
    else
      this.tell("Select an event first, in a list or with . and ,");
  }

  openSearch() {
    this.panel.open("list");
    this.listPanel.focusText();
  }

  focusGoto() {
    byId("goto").focus();
    byId("goto").select();
  }

  toggleFollow() {
    const {state} = this;
    if (state.follow)
      state.change({follow: false});
    else
      this.timeline.toEnd();
  }

  #theme() {
    this.colors.refresh();
    this.names.update();
    this.timeline.redraw();
    this.listPanel.show();
  }
}

try {
  const page = new Page(await Trace.load());
  onFailure(fail);
  page.start();
  window.tarnView = page; // for tests and debugging
} catch (error) {
  byId("busy").textContent = "";
  fail(new Error(`Cannot show the trace: ${error.message}`));
}
