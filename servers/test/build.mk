# SPDX-License-Identifier: BSD-2-Clause
$(eval $(call user_program,test_servers,servers/test/servers_test.c))
BOOT_FILES += test/servers=$(BA)/user/test_servers
GUEST_TESTS += servers
GUEST_servers := smp=16

$(eval $(call user_program,test_windows,servers/test/windows_test.c))
BOOT_FILES += test/windows=$(BA)/user/test_windows
GUEST_TESTS += windows
