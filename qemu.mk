# Targets for users: run, demo, view, test, bench, lint, deps, help. tools/guest.py describes the machines,
# boot/README.md the kernel options. `make help` prints the text after ##.

# More where the host works for others too, up to four times as many: so the build keeps its share.
JOBS    ?= $(shell awk -v cpus=$$(nproc) '{ load = $$1 / cpus; print cpus * (load < 2 ? 1 : load < 4 ? 2 : 4) }' /proc/loadavg)
OPTIONS ?=
REPEAT  := $(if $(DETERMINISTIC),--deterministic) $(if $(SEED),--seed $(SEED))
ALL_NOW := $(MAKE) --no-print-directory -j$(JOBS)

.PHONY: deps deps-tests run demo view test test-long bench bench-peers lint format help

deps: ## install the Debian packages that are missing
	@tools/deps

deps-tests:
	@tools/deps tests

# Each target starts make again when the packages are installed: reading the makefiles needs the compiler.
demo: deps ## boot 4 processors, run a workload, pull its trace over the network, report [DETERMINISTIC=1] [SEED=]
	@$(ALL_NOW) all
	@tools/demo --arch $(ARCH) $(REPEAT)

DEMO_TRACE := out/demo-$(ARCH)/trace
TRACE ?= $(DEMO_TRACE)
view: $(B)/host/tarn ## show the trace of the last demo in the browser [TRACE=DIRECTORY or SOURCE]
	@$(if $(filter $(DEMO_TRACE),$(TRACE)),test -e $(TRACE) || { echo "make view: $(TRACE) does not exist: run \`make demo ARCH=$(ARCH)\` first" >&2; exit 1; })
	@$< view $(TRACE)

.PHONY: tests-built
tests-built: deps-tests
	@set -e; for arch in $(TESTED); do $(ALL_NOW) ARCH=$$arch all tests; done

test: tests-built ## build and test every architecture, or only the one that ARCH= names
	@tests/run $(TESTED:%=--arch %)

test-long: tests-built ## the tests that `make test` leaves out because they are slow and seldom find anything
	@tests/run --long $(TESTED:%=--arch %)

bench: deps-tests ## print figures: one line each, `name value unit`
	@$(ALL_NOW) all tests >&2
	@tests/bench --arch $(ARCH)

bench-peers: deps-tests ## compare the logging path, as a program of Linux, with LTTng-UST and the clock [PEERS_OPTIONS=]
	@tools/deps peers
	@$(ALL_NOW) $(B)/host/tarn peers >&2
	@tests/peers/bench $(PEERS_OPTIONS)

run: all ## an interactive shell on the serial console [SMP=4] [MEM=512M] [KVM=1] [BOOT=firmware] [PORT=] [SERIAL=] [RNG=1] [OPTIONS=] [DETERMINISTIC=1] [SEED=]
	$(if $(filter-out firmware,$(BOOT)),$(error BOOT=$(BOOT): must be firmware, or nothing for a direct boot))
	@tools/boot --arch $(ARCH) --smp $(SMP) --memory $(MEM) --options '$(OPTIONS)' \
	    $(if $(filter firmware,$(BOOT)),--firmware) $(if $(KVM),--kvm) $(if $(PORT),--port $(PORT)) $(if $(SERIAL),--serial $(SERIAL)) \
	    $(if $(RNG),--rng) $(REPEAT)

lint: ## check format, includes, docs and common mistakes
	@tools/lint

# Part of every build.
.PHONY: portable
portable:
	@mkdir -p $(B); tools/lint architecture >$(B)/portable.log || { cat $(B)/portable.log; exit 1; }

format: ## format all C files
	@git ls-files '*.c' '*.h' | xargs clang-format -i

help: ## print this list
	@echo "make TARGET [ARCH=ONE], of $(ARCHITECTURES); here ARCH=$(ARCH)"; echo
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | sort -u | \
	    awk -F'|' '{ printf "  %-11s %s\n", $$1, $$2 }'
