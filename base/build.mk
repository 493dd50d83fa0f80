# Each user of these files compiles them into itself; only their tests are built here.
$(eval $(call host_test,tree,tests/unit/base/tree_test.c base/tree.c))
$(eval $(call host_test,sparse,tests/unit/base/sparse_test.c))
