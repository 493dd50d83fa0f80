# Each user of these files compiles them into itself; only their tests are built here.
$(eval $(call host_test,base,tests/unit/base/base_test.c base/tree.c))
