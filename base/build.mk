# SPDX-License-Identifier: BSD-2-Clause
# Who uses these compiles them into itself; here are only their tests.
$(eval $(call host_test,tree,base/test/tree_test.c base/tree.c))
