# User programs: shell, utilities, benchmarks, demonstrations; each in /bin of the archive.
$(eval $(call user_library,tarnprof,user/tarnprof/tarnprof.c user/tarnprof/rows.c user/tarnprof/routines.c trace/print/routines.c trace/print/shares.c))
UTILITIES := ls cat cp mv rm mkdir rmdir echo wc sort grep ps sysstat kill poweroff debug sleep true false

$(foreach u,$(UTILITIES),$(eval $(call bin_program,$u,user/bin/$u.c user/bin/util.c \
    $(if $(filter $u,cat wc sort grep),user/bin/input.c))))
BOOT_FILES += $(foreach s,$(wildcard trace/studies/*.study),etc/studies/$(notdir $s)=$s)
$(eval $(call bin_program,trace,$(addprefix user/bin/,trace.c trace_bench.c trace_list.c trace_rings.c trace_study.c trace_tables.c util.c),$(BA)/lib/libtarnprof.a))
$(eval $(call bin_program,ktau,user/bin/ktau.c user/bin/util.c user/bin/number.c,$(BA)/lib/libtarnprof.a))
$(eval $(call bin_program,top,user/bin/top.c user/bin/util.c user/bin/number.c,$(BA)/lib/libtarnprof.a))
$(eval $(call bin_program,ktaud,user/bin/ktau.c user/bin/util.c user/bin/number.c,$(BA)/lib/libtarnprof.a))
$(eval $(call bin_program,sh,$(wildcard user/sh/*.c) base/line_edit.c))
$(foreach s,user/sh/edit.c tests/unit/sh/edit_test.c base/line_edit.c,$(eval CFLAGS_$s += -Ikernel/abi))
$(eval $(call host_test,sh_edit,tests/unit/sh/edit_test.c user/sh/edit.c base/line_edit.c))
$(eval $(call bin_program,sdet,user/bench/sdet.c))
$(eval $(call bin_program,micro,user/bench/micro.c arch/$(ARCH)/user/fault.S))
$(eval $(call bin_program,lockstorm,user/demo/lockstorm.c))
$(eval $(call bin_program,stall,user/demo/stall.c))
$(eval $(call application_events,user/demo/market/market.ev))
$(eval $(call bin_program,market,user/demo/market/market.c))
$(eval $(call application_events,user/demo/shop/shop.ev))
$(eval $(call bin_program,shop,user/demo/shop/shop.c))
# docs/debugging.md shows its call chains, also of calls at a function's end.
CFLAGS_user/demo/shop/shop.c := -fno-optimize-sibling-calls
$(eval $(call application_events,user/demo/pad/pad.ev))
$(eval $(call bin_program,pad,user/demo/pad/pad.c $(addprefix servers/virtio/,dma.c virtio.c)))
$(eval $(call bin_program,vandal,tests/guest/vandal.c))
$(eval $(call bin_program,flood,user/bench/flood.c))

# What these need beyond the ordinary (rules.mk). Any program may start them: none of them hands its authority on.
AUTHORITY_bin/trace := trace
AUTHORITY_bin/micro := trace
AUTHORITY_bin/ktau := trace-read
AUTHORITY_bin/ktaud := trace-read
AUTHORITY_bin/top := trace-read
AUTHORITY_bin/poweroff := machine
AUTHORITY_bin/debug := machine
AUTHORITY_bin/stall := machine
AUTHORITY_bin/pad := machine
