# SPDX-License-Identifier: BSD-2-Clause
$(eval $(call user_program,test_servers,servers/test/servers_test.c))
BOOT_FILES += test/servers=$(BA)/user/test_servers
GUEST_TESTS += servers
GUEST_servers := smp=16

$(eval $(call user_program,test_shared_buffers,servers/test/shared_buffers_test.c))
BOOT_FILES += test/shared_buffers=$(BA)/user/test_shared_buffers
GUEST_TESTS += shared_buffers
GUEST_shared_buffers := plain # 70 clients, one after the other: nothing there meets in another order
