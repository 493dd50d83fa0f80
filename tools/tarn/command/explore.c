/* explore.c - `tarn explore`: tools/explore.py, which boots guests. */
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <tools/tarn/command/commands.h>
#include <unistd.h>

/* The script reads the values. */
struct options {
    const char *value, *script;
    bool flag;
};

/* clang-format off */
#define VALUE(name, argument, text) {TEXT(name, argument, struct options, value, text)}
#define SWITCH(name, text)          {FLAG(name, struct options, flag, text)}
/* clang-format on */

static const struct command_option known[] = {
    VALUE("seeds", "A..B", "the seeds to run (1..20)"),
    VALUE("kinds", "LIST",
          "the choices to perturb: turns, timers, places, interrupts (the default), allocations (page frames "
          "are "
          "sometimes refused to ordinary programs), kills (ordinary programs, single threads of them, and "
          "servers are ended), control (a program changes whatever can be set in the trace, and reads it), "
          "memory (relaxed and acquire loads of the kernel sometimes return an older value, where C11 allows "
          "it); control and memory are also the default for `all`\nWith allocations or kills, the workload "
          "is started up to eight times "
          "per run, and its failed checks are no findings"),
    SWITCH("network",
           "connect the guest to a network inside the emulator, which replies to DHCP, ARP and TFTP\nIt is "
           "always there for `/test/explore_net`"),
    VALUE("arch", "NAME", "architecture of the guest"),
    VALUE("smp", "N", "number of CPUs (4)"),
    VALUE("memory", "SIZE", "memory of the guest (256M)"),
    VALUE("limit", "MS", "limit of the guest's time from its first program on, in milliseconds (20000)"),
    VALUE("jobs", "N", "runs at a time (2)"),
    VALUE("options", "WORDS", "further words for the kernel's command line"),
    SWITCH("shrink", "reduce the perturbations of each finding to few, none of which can be left out"),
    VALUE("tries", "N",
          "limit of runs for --shrink (120)\nIf it is reached, more could be left out; a message says so"),
    SWITCH("first", "stop at the first finding; a race or a lock order ends its run at once"),
    SWITCH("no-check", "do not read and check the trace of each run"),
    SWITCH("no-leaks", "do not compare what is left at the end with a run without perturbations"),
    VALUE("out", "DIR", "where to keep consoles and traces of findings (out/explore)"),
    {TEXT("script", "FILE", struct options, script, "run this script of the host instead of a WORKLOAD")},
    VALUE("kernel", "FILE", "the exploring kernel (build/ARCH/explore/tarn.elf)"),
    VALUE("archive", "FILE", "the boot archive (build/ARCH/explore/boot.cpio)"),
    SWITCH("coverage", "print for each file of kernel, ring, servers and libc-glue which functions and lines "
                       "no run reached"),
    VALUE("coverage-file", "FILE",
          "add what the runs reached to this file\nSeveral explorations, also of both machines, can share a "
          "file; --coverage and --changed then say what none of them reached. What it says of sources that "
          "have changed since is dropped"),
    VALUE("changed", "REV", "print which lines that have changed since this revision of git no run executed"),
    SWITCH("verbose", "print a line for each seed"),
    {.name = NULL}};

static int run_explore(int argc, char **argv)
{
    char script[PATH_MAX];
    struct options options = {NULL};
    struct fail fail;
    int status = command_parse(&explore_command, (void *[]){&options}, argc, argv);
    if (status >= 0)
        return status;
    if ((options.script != NULL) == (optind < argc))
        return complain_of_words(&explore_command, "expected either a WORKLOAD or --script FILE");
    if (!source_file("tools/explore.py", script, &fail))
        return fail_report(&fail, EXIT_USAGE);
    argv[0] = script;
    execv(script, argv);
    complain("%s: %s", script, strerror(errno));
    return EXIT_USAGE;
}

const struct command explore_command =
    COMMAND("explore", "run a workload under many CPU interleavings, and report failures",
            "[OPTION]... WORKLOAD\n[OPTION]... -- WORKLOAD ARGUMENT...\n[OPTION]... --script FILE", 0, 64,
            run_explore, NULL, {NULL, known});
