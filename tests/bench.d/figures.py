"""Shared by the programs beside this file: where things are, how a figure is printed, and how one fails."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests/host")
import guest  # noqa: E402
import variant  # noqa: E402

ARCH = os.environ.get("ARCH", guest.DEFAULT_ARCH)
TARN, TRACEGEN = (os.path.join(ROOT, "build/host", name) for name in ("tarn", "tracegen"))


def figure(name, value, unit, digits=0):
    print(f"{name} {value:.{digits}f} {unit}", flush=True)


def generate(trace, *options):
    """A synthetic trace (tests/unit/tarn/tracegen.c)."""
    subprocess.run([TRACEGEN, "--metadata", os.path.join(ROOT, "build/gen/trace/metadata.tsdl"), *options, trace], check=True,
                   stdout=subprocess.DEVNULL)


def run_bench(main):
    """Ends with the reason if main() fails."""
    try:
        main()
    except (guest.GuestError, variant.BuildError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
