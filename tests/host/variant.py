"""A copy of the tree, in which a test may change files, or build kernel and programs in another way."""
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = "third_party", "fetch", "host", "gen", "man"  # folders of build/ that do not depend on how the guest is built
KEPT = "newlib", "newlib.config", "headers", "boot"  # of build/ARCH, if it is there


class BuildError(Exception):
    """Its text is the end of what make printed."""


def copy_tree(directory):
    """All files of the repository as they are now, without what is built."""
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"], check=True, capture_output=True)
    for name in tracked.stdout.decode().split("\0"):
        source = os.path.join(ROOT, name)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
            shutil.copy2(source, os.path.join(directory, name))


def make(directory, *words):
    """Without the variables of the make that runs the test."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", "-C", directory, *words], capture_output=True, text=True, env=environment)


def build(directory, arch, *words):
    """Builds in a copy of the tree, with WORDS for make and this tree's host programs and newlib. Kernel and archive for guest.Guest."""
    copy_tree(directory)
    ours, usual = (os.path.join(root, "build") for root in (directory, ROOT))
    os.makedirs(os.path.join(ours, arch))
    for name in SHARED:
        os.symlink(os.path.join(usual, name), os.path.join(ours, name))
    for name in filter(os.path.exists, (os.path.join(usual, arch, name) for name in KEPT)):
        subprocess.run(["cp", "-a", name, os.path.join(ours, arch)], check=True)
    files = [f"build/{arch}/{name}" for name in ("kernel/tarn.elf", "boot.cpio", "tests.list")]
    result = make(directory, "-s", f"-j{os.cpu_count()}", f"ARCH={arch}", *words, *files)
    if result.returncode:
        raise BuildError("".join((result.stdout + result.stderr).splitlines(keepends=True)[-20:]))
    return {"kernel": os.path.join(directory, files[0]), "archive": os.path.join(directory, files[1])}
