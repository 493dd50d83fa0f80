"""Shared by the programs beside this file: where things are, how a figure is printed, and how one fails."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests/host")
import guest  # noqa: E402
import variant  # noqa: E402

ARCH = os.environ.get("ARCH", guest.DEFAULT_ARCH)
TARN = os.path.join(ROOT, "build/host/tarn")


def figure(name, value, unit, digits=0):
    print(f"{name} {value:.{digits}f} {unit}", flush=True)


def run_bench(main):
    try:
        main()
    except (guest.GuestError, variant.BuildError) as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
