// The menu of an event: the command that runs the guest again up to it, to copy or, if the server allows it, to run.
import {ask} from "./api.js";
import {closing, element} from "./element.js";
import {formatTime} from "./time.js";

// Quotes text for a shell.
const quoted = (text) => (/^[\w/.,:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export class EventMenu {
  // `tell` shows a message to the user.
  constructor(dialog, trace, tell) {
    Object.assign(this, {dialog, trace, tell});
    closing(dialog);
    addEventListener("contextmenu", (event) => {
      const row = event.target.closest?.(".event");
      if (row) {
        event.preventDefault();
        this.open(row.event, event.clientX, event.clientY);
      }
    });
  }

  // The shell command that goes to event N; undefined if that is not possible.
  command(n) {
    const {directory} = this.trace.goto;
    return directory === undefined ? undefined : `tarn goto ${quoted(directory)} ${n}`;
  }

  open({n, t, name}, x = innerWidth / 3, y = innerHeight / 3) {
    const {dialog} = this, command = this.command(n);
    dialog.replaceChildren(
      element("h2", {id: "event-menu-title"}, `${name ? `${name}, ` : ""}event ${n}, at ${formatTime(t)}`),
      ...(command === undefined ? [element("p", {class: "note"}, `The machine at this moment is not available: ${this.trace.goto.why}.`)]
        : [element("p", {}, "Open the machine at this moment in gdb:"), element("pre", {}, command), this.#buttons(n, command)]));
    dialog.showModal();
    const {offsetWidth: width, offsetHeight: height} = dialog;
    dialog.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
    dialog.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
  }

  #buttons(n, command) {
    const button = (text, done, action) => element("button", {type: "button", click: () => this.#do(done, action)}, text);
    return element("div", {},
      button("Copy", "Copied.", () => navigator.clipboard.writeText(command)),
      this.trace.goto.opens ? button("Open gdb", "gdb opens in the terminal of tarn view.", () => ask("goto", {n}, undefined, "POST")) : null);
  }

  async #do(done, action) {
    try {
      await action();
      this.tell(done);
    } catch (error) {
      this.tell(error.message);
    }
    this.dialog.close();
  }
}
