"""What tools/lint allows: which folder may use which, and words that are not to be used."""

# Each list is one order of use: a folder may use itself and those before it. Only these folders are compared with each other.
ORDERS = [
    ("trace/format", "trace/ring", "trace/print", "trace/event", "trace/kit"),
    ("base", "kernel", "trace/format", "trace/ring", "trace/print", "trace/cost", "kernel/lib", "kernel/cpu", "kernel/memory", "kernel/object", "kernel/space",
     "kernel/sched", "kernel/ipc", "kernel/trace", "kernel/diagnosis", "kernel/debug", "kernel/failure", "kernel/explore", "kernel/syscall", "kernel/boot"),
    ("base", "servers/protocol", "servers/lib", "servers/virtio", "servers/fs"),
    ("servers/protocol", "servers/lib", "servers/virtio", "servers/net/lwip", "servers/net"),
    ("servers/protocol", "servers/lib", "servers/virtio", "servers/traced"),
    ("servers/protocol", "servers/lib", "servers/proc", "servers/console", "servers/init"),
    ("trace/format", "tools/tarn", "tools/tarn/read", "tools/tarn/print", "tools/tarn/model", "tools/tarn/index", "tools/tarn/symbols",
     "tools/tarn/source", "tools/tarn/tables", "tools/tarn/analysis", "tools/tarn/keep", "tools/tarn/export", "tools/tarn/top", "tools/tarn/goto", "tools/tarn/view",
     "tools/tarn/command"),
]

# Uses against the order: (using file, used file, why); * is any text. An entry that allows nothing fails, too.
AGAINST = [
    ("servers/net/lwip/lwipopts.h", "servers/net/netif.c", "lwIP's heap is the server's"),
    ("trace/format/wire.c", "kernel/lib/string.c", "any C library's memcpy"),
]

# Circles of files: (all files of the circle, why). A header and its source are no circle.
CIRCLES = [
    ("kernel/cpu/*", "the inline part of a lock, and its slow path, which looks for the holder's CPU"),
    ("kernel/space/*", "the inline part of the switch to a space, and its slow path"),
    ("trace/ring/cas.h|trace/ring/ring.h", "ring.h includes one of two ways to take a place, which names its race windows"),
    ("kernel/sched/thread.c|kernel/sched/space_exit.c", "the last thread ends its space, a killed space its threads"),
    ("kernel/memory/*", "without free page frames, slabs give theirs back"),
    ("kernel/ipc/*", "capabilities hold objects, messages carry capabilities"),
    ("kernel/trace/*", "the store lists the rings, and each of both is repaired from the other"),
    ("kernel/diagnosis/routine*", "rows are kept for reuse while routines are counted, and routines count in rows"),
    ("kernel/debug/*", "commands use the session's console, the session's table lists the commands"),
    ("kernel/explore/*", "a race that is found ends the run"),
    ("servers/net/*", "lwIP calls back into the socket whose operation it executes"),
    ("servers/traced/*", "a connection starts a pull, which sends through it"),
    ("servers/proc/*", "a dead process is reaped, and the reaper reports to the process table"),
    ("tools/tarn/model/*", "one state machine in several files"),
    ("tools/tarn/analysis/*", "analyses.c lists all analyses, which use its helpers"),
    ("tools/tarn/source/guest*", "the store and the rings in guest memory"),
    ("tools/tarn/command/diff*", "one subcommand in several files"),
    ("tools/tarn/tables/*", "moment.c asks routines_memory.c for tables in guest memory, which appends to the same copies"),
    ("tools/tarn/view/lanes*", "the two ways to fill lanes, which share their places"),
    ("tools/tarn/view/[amp][par][ite]*", "api.c lists all requests, which use its helpers"),
]

# Words that docs/glossary.md replaces: (what every match contains, in small letters; pattern; what to write instead). In
# identifiers, _ separates words. (?-i:...) is as written.
WORDS = [
    ("virtual", r"virtual[ _]processors?", "vCPU"),
    ("stint", r"stints?", "run"),
    ("whoever", r"whoever", "the caller, the thread"),
    ("summer", r"summers?", "accumulator"),
    ("adder", r"adders?", "accumulator"),
    ("usual", r"(?<=_)(?-i:USUAL)", "DEFAULT"),
    ("most", r"(?<=_)(?-i:MOST)", "MAX"),
    ("buri", r"buried|buries", "kill, exit"),
    ("grave", r"graves?", "dead client"),
    ("nudge", r"nudges?", "progress check"),
    ("owed", r"owed", "uncommitted"),
    ("pile", r"piles?", "array"),
    ("sieve", r"sieves?", "prefilter"),
    ("told of", r"(is|are|was|were) told of", "is reported"),
    ("of", r"tells? of", "reports"),
    ("teach", r"teach(es)?", "restore"),
    ("go", r"lets? go|letting go", "release"),
    ("look", r"looks (into|at)", "checks, reads"),
    ("the way of", r"the way of", "the path of"),
    ("come closer", r"come closer", "zoom in"),
    ("go away", r"go away", "zoom out"),
    ("seen whole", r"seen whole", "complete"),
    ("room", r"rooms?", "capacity, space left"),
    ("take", r"(?<![a-z_])take_(event|segment|enter|leave|thread|switch|wakeup)", "on"),
    ("fine", r"(?<=bool )fine|fine(?= =)", "ok"),
    ("image", r"(?<!boot[ _])images?", "executable, guest memory"),
]
# Where a word is right: (file, pattern of the text around it, why).
WORDS_ALLOWED = [
    ("arch/ppc64/*", "virtual processor area", "PAPR's name"),
    ("tools/tarn/analysis/*", "no_room", "the key of a column that programs read"),
    ("*", "(state|trace)_image|event image", "names in the trace"),
    ("boot/*", r"make image|image: \$\(ISO\)", "the target that makes the boot image"),
    ("tools/tarn/view/*", "image/svg|cairo_image|#image|one image", "pictures"),
    ("tests/host/view_driver.py", "cairo_image", "pictures"),
]

# Names in comments that are others': of hardware, standards and programs outside the tree.
FOREIGN = {
    "cp_abort", "PM1a_CNT", "hvm_start_info", "XEN_ELFNOTE_PHYS32_ENTRY", "TIME_WAIT", "seq_cst", "generic_kernel",
    "peer_has_vnet_hdr", "virtio_pci_cap", "icount_start_warp_timer", "icount_process_data",
    "pmu_count_insns", "gen_lookup_and_goto_ptr", "CF_NO_GOTO_PTR", "powerpc_excp_books",
    "target/ppc/translate.c", "sched_mig", "cpu_idle",
    "gcc/sanitizer.def", "chksum.c", "sys/lock.h", "ppc-asm.h", "pthread.h",
}

# How many files the ways in docs/ways.md pass, in its order.
WAYS = [30, 12]
