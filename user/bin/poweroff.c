/* poweroff.c - ends the machine; the status becomes QEMU's exit status (boot/README.md). */
#include <stdlib.h>

#include <tarn/error.h>
#include <tarn/runtime.h>
#include <tarn/server.h>
#include <user/bin/util.h>

int main(int argc, char **argv)
{
    program_name = "poweroff";
    const char *synopsis = "[status, 0..127]";
    if (argc > 2)
        usage(synopsis);
    const unsigned long status = argc > 1 ? read_number(argv[1], 0, 127, synopsis) : 0;
    if (!slot_is_filled(SLOT_MACHINE))
        return refuse_without("machine");
    return refuse("cannot power off: %s", tarn_error_text((int)power_off((uint32_t)status)));
}
