# gpusim: the one Makefile (GNU make 4.3 or later, no recursion into folders).
# Nothing is written into the source tree: everything lands under build/, one folder per flag set.
#
#   VARIANT=release|fast|debug|clang|asan|ubsan|sanitize|tsan|coverage|fuzz   flag set, folder build/VARIANT
#   B=DIR           another build folder        DEVELOPER=1   warnings are errors
#   T=WORD          `make test`: only programs whose name holds WORD
#   PREFIX, DESTDIR `make install`              FUZZ_S=N      seconds for each fuzz target

VERSION := 0.1.0
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0) # a -j on the command line wins
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif

VARIANT ?= release
B       ?= build/$(VARIANT)
PREFIX  ?= /usr/local
FUZZ_S  ?= 10

# ---- compilers and flags -------------------------------------------------------------------------
ifeq ($(origin CC),default)
CC := $(if $(filter clang fuzz,$(VARIANT)),clang,gcc)
endif
ifeq ($(origin AR),default)
AR := $(if $(filter fast,$(VARIANT)),gcc-ar,ar)
endif
FLAGS_release  := -O2 -g
FLAGS_fast     := -O3 -g -flto=auto # small functions go across files; each link takes half a minute
FLAGS_clang    := -O2 -g
FLAGS_debug    := -O0 -g3
FLAGS_asan     := -O1 -g -fno-omit-frame-pointer -fsanitize=address
FLAGS_ubsan    := -O1 -g -fno-omit-frame-pointer -fsanitize=undefined -fno-sanitize-recover=all
FLAGS_sanitize := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_tsan     := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
FLAGS_coverage := -O0 -g --coverage
FLAGS_fuzz     := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined
# gcc's flow analysis is misled by the sanitizers' own branches.
SANITIZED := $(if $(filter asan ubsan sanitize tsan,$(VARIANT)),$(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized))
ifndef FLAGS_$(VARIANT)
$(error unknown VARIANT '$(VARIANT)')
endif
CFLAGS ?= $(FLAGS_$(VARIANT))
# -ffp-contract=off: the same bits with and without fused multiply-add. Never -ffast-math.
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DGPUSIM_VERSION=\"$(VERSION)\" -Isim -I. -ffp-contract=off -pthread \
              -Wall -Wextra -Wpedantic -Wshadow -Wconversion $(SANITIZED) $(if $(filter 1,$(DEVELOPER)),-Werror)

# ---- libraries: pkg-config module=Debian package -------------------------------------------------
LIB_DEPS  := gsl=libgsl-dev jansson=libjansson-dev zlib=zlib1g-dev liblzma=liblzma-dev \
             libzstd=libzstd-dev libmd=libmd-dev libbsd=libbsd-dev yaml-0.1=libyaml-dev expat=libexpat1-dev
TEST_DEPS := cmocka=libcmocka-dev
module     = $(firstword $(subst =, ,$(1)))
MODULES   := $(foreach d,$(LIB_DEPS),$(call module,$(d)))
LINKED    := $(filter-out libbsd,$(MODULES)) # of libbsd only the header <bsd/sys/tree.h> is used
PKG_CFLAGS := $(shell pkg-config --cflags $(LINKED) cmocka 2>/dev/null)
LDLIBS     := $(shell pkg-config --libs $(LINKED) 2>/dev/null) -lm
TEST_LIBS  := $(shell pkg-config --libs cmocka 2>/dev/null)

# ---- sources -------------------------------------------------------------------------------------
SRC := $(sort $(wildcard sim/*/*.c traces/*.c plots/*.c))

# Registries: every $(4)/$(1)_x.c defines `const struct $(3) $(1)_x`; $(1)_all[] lists them by name.
# A folder's helper that is no member must therefore not carry the prefix.
define registry
$(B)/gen/$(1)_all.c: FORCE
	@mkdir -p $$(@D)
	@{ echo '#include "$(2)"'; \
	   for s in $$($(1)_members); do echo "extern const struct $(3) $$$$s;"; done; \
	   echo 'const struct $(3) *const $(1)_all[] = {'; \
	   for s in $$($(1)_members); do echo "    &$$$$s,"; done; \
	   echo '    0};'; } >$$@.new; \
	if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
$(1)_members := $(sort $(basename $(notdir $(wildcard $(4:%=%/$(1)_*.c)))))
GEN += $(B)/gen/$(1)_all.c
endef
GEN :=
registry_if = $(if $(wildcard sim/$(2) $(2)),$(eval $(call registry,$(1),$(2),$(3),$(4))))
$(call registry_if,share,engine/share.h,share_ops,sim/policy)
$(call registry_if,order,engine/order.h,order_ops,sim/policy)
$(call registry_if,place,engine/place.h,place_ops,sim/policy)
$(call registry_if,route,engine/route.h,route_ops,sim/policy)
$(call registry_if,serve,engine/serve.h,serve_ops,sim/policy)
$(call registry_if,cmd,cli/command.h,command,sim/cli traces plots)
$(call registry_if,fmt,traces/format.h,trace_format,traces)
$(call registry_if,valid,whatif/validate.h,valid_set,sim/whatif)

OBJ     := $(SRC:%.c=$(B)/%.o) $(GEN:.c=.o)
LIB     := $(B)/libgpusim.a
LIB_OBJ := $(filter-out $(B)/sim/cli/main.o,$(OBJ))
GPUSIM  := $(B)/gpusim

# ---- calibrate: only where nvcc is found ----------------------------------------------------------
NVCC ?= $(shell for n in "$$(command -v nvcc)" "$$CUDA_HOME/bin/nvcc" /usr/local/cuda/bin/nvcc \
          $$(ls -d /usr/local/cuda-*/bin/nvcc 2>/dev/null | sort -rV); \
          do if [ -x "$$n" ]; then echo "$$n"; break; fi; done)
CAL_SRC := $(sort $(wildcard calibrate/*.c))
CAL_CU  := $(sort $(wildcard calibrate/*.cu))
CAL_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out calibrate/device_fake.c,$(CAL_SRC))) $(CAL_CU:%.cu=$(B)/%.fatbin.o)
CAL_LIB := $(if $(CAL_SRC),$(B)/libcalibrate.a) # for tests: the fake device in place of the real one
CAL_LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out calibrate/main.c calibrate/device_cuda%.c,$(CAL_SRC)))
ifneq ($(NVCC),)
CUDA_INCLUDE := -isystem $(patsubst %/bin/nvcc,%/include,$(realpath $(NVCC)))
ifneq ($(wildcard calibrate/main.c),)
ifneq ($(shell command -v g++),)
CALIBRATE := $(B)/bin/calibrate
else
CALIBRATE_WHY := nvcc needs g++ and it is not installed
endif
endif
else
CALIBRATE_WHY := no nvcc on PATH, in $$CUDA_HOME/bin or /usr/local/cuda*/bin
endif

SHIM    := $(if $(CALIBRATE),$(B)/bin/libgpusim_intercept.so)
STANDIN := $(if $(CALIBRATE),$(addprefix $(B)/tests/standin/,libcuda.so.1 old/libcuda.so.1 ancient/libcuda.so.1 libcublasLt.so.13 libnvidia-ml.so.1 libclock.so libnetwork.so client $(if $(filter tsan,$(VARIANT)),client_tsan)))

# ---- tests ---------------------------------------------------------------------------------------
TEST_SRC   := $(sort $(wildcard $(foreach k,unit property oracle,tests/$(k)/test_*.c)))
# Tests that run threads of their own or ask gpusim for them: what TSan is for.
THREADED   := $(if $(TEST_SRC),$(shell grep -lE 'thread\.h|parallel_for|"--jobs"|threads' $(TEST_SRC)))
ONLY_SRC   := $(if $(filter threaded,$(ONLY)),$(THREADED),$(TEST_SRC))
pick        = $(if $(T),$(foreach t,$(1),$(if $(findstring $(T),$(t)),$(t))),$(1))
TESTS      := $(call pick,$(ONLY_SRC:%.c=$(B)/%))
SUPPORT    := $(patsubst %.c,$(B)/%.o,$(sort $(wildcard tests/support/*.c)))
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/fuzz_*.c))
REPLAYS    := $(if $(T)$(ONLY),,$(FUZZ_SRC:%.c=$(B)/%_replay))
BENCHES    := $(patsubst %.c,$(B)/%,$(sort $(wildcard tests/bench/bench_*.c)))
HEADERS    := $(sort $(wildcard sim/*/*.h traces/*.h plots/*.h calibrate/*.h tests/*/*.h))
C_FILES    := $(SRC) $(CAL_SRC) $(sort $(wildcard tests/*/*.c))

SHARED := $(or $(GPUSIM_SHARED),$(abspath $(wildcard ../shared)))
ENV     = GPUSIM_BIN=$(abspath $(B)/gpusim) GPUSIM_DATA=scenarios GPUSIM_VARIANT=$(VARIANT) \
          $(if $(SHARED),GPUSIM_SHARED=$(SHARED)) $(if $(CALIBRATE),GPUSIM_CALIBRATE=$(abspath $(CALIBRATE)) GPUSIM_STANDIN_DIR=$(abspath $(B)/tests/standin) GPUSIM_SHIM=$(abspath $(B)/bin/libgpusim_intercept.so)) \
          ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
          UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1

.PHONY: FORCE all deps deps-dev run check test asan ubsan sanitize tsan clang coverage bench validate fuzz soak mutants \
        hdr-check check-headers check-layers check-golden accept format lint tidy cppcheck analyze clean install uninstall help dist-size
FORCE:

## all            build/gpusim, and build/calibrate where nvcc is found (the default)
all: $(GPUSIM) $(LIB) $(CALIBRATE) $(SHIM)
ifeq ($(B),build/release)
all: $(GPUSIM:$(B)/%=build/%) $(CALIBRATE:$(B)/bin/%=build/%) $(SHIM:$(B)/bin/%=build/%)
endif
	@$(if $(CALIBRATE_WHY),echo 'calibrate is left out: $(CALIBRATE_WHY)',:)

build/gpusim: build/release/gpusim
	@ln -f $< $@ 2>/dev/null || cp -f $< $@
build/calibrate: build/release/bin/calibrate
	@ln -f $< $@ 2>/dev/null || cp -f $< $@

build/libgpusim_intercept.so: build/release/bin/libgpusim_intercept.so
	@ln -f $< $@ 2>/dev/null || cp -f $< $@

$(B)/gpusim: $(B)/sim/cli/main.o $(LIB)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(LIB_OBJ) $(B)/members
	@rm -f $@
	@echo "  AR   $@"; $(AR) rcs $@ $(LIB_OBJ)
$(B)/libcalibrate.a: $(CAL_LIB_OBJ)
	@rm -f $@
	@echo "  AR   $@"; $(AR) rcs $@ $^

# Stamps that change when the flags or the list of sources do, so that nothing stale is linked.
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' >$@.new; \
        if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/members: FORCE
	$(call stamp,$(LIB_OBJ))
$(B)/flags: FORCE
	@for m in $(MODULES); do pkg-config --exists $$m 2>/dev/null || missing="$$missing $$m"; done; \
	if [ -n "$$missing" ]; then echo "missing:$$missing; 'make deps' installs what is needed" >&2; exit 1; fi
	$(call stamp,$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) $(CFLAGS))
$(B)/prefix: FORCE
	$(call stamp,$(PREFIX))

COMPILE = $(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(EXTRA) -MMD -MP -c $< -o $@
$(B)/gen/%.o: $(B)/gen/%.c $(B)/flags
	@$(COMPILE)
$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	@echo '  CC   $<'
	@$(COMPILE)
$(B)/sim/base/datadir.o: $(B)/prefix
$(B)/sim/base/datadir.o: EXTRA = -DGPUSIM_PREFIX=\"$(PREFIX)\"
# Loops over states, two at a time; and what every event runs through. The same bits, since nothing is reassociated.
HOT = sim/policy/presence.c sim/policy/share_mps.c \
      $(filter-out sim/base/datadir.c,$(wildcard sim/base/*.c sim/engine/*.c sim/metrics/*.c))
$(HOT:%.c=$(B)/%.o): EXTRA = $(if $(findstring -O2,$(CFLAGS)),-O3)
$(B)/calibrate/%.o: EXTRA = $(CUDA_INCLUDE)
$(B)/tests/%.o: EXTRA = -Itests
$(B)/tests/%: $(B)/tests/%.o $(SUPPORT) $(CAL_LIB) $(LIB)
	@$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS) -ldl $(TEST_LIBS)
$(B)/tests/fuzz/fuzz_%_replay: $(B)/tests/fuzz/fuzz_%.o $(B)/tests/fuzz/replay.o $(SUPPORT) $(LIB)
	@$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)
.SECONDARY:

# Kernels: a fat binary with code for every architecture from sm_75 to sm_120 that this nvcc knows
# and PTX of the newest, so that later cards compile it when they load it. Embedded as bytes. A kernel
# that spills registers on any of them, by what ptxas -v says, is an error.
ARCHS = $(shell $(NVCC) --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$$/\1/p' | awk '$$1 >= 75 && $$1 <= 120' | sort -n)
$(B)/calibrate/%.fatbin: calibrate/%.cu $(wildcard calibrate/*.h calibrate/*.cuh) calibrate/check_kernels.sh $(B)/flags
	@mkdir -p $(@D)
	@echo '  NVCC $<'
	@$(NVCC) -O3 -std=c++17 -I. -Isim --threads 2 -Xptxas -v -fatbin $(foreach a,$(ARCHS),-gencode arch=compute_$(a),code=sm_$(a)) \
	    -gencode arch=compute_$(lastword $(ARCHS)),code=compute_$(lastword $(ARCHS)) -o $@ $< >$@.log 2>&1 || { cat $@.log >&2; exit 1; }
	@calibrate/check_kernels.sh $@.log $<
$(B)/calibrate/%.fatbin.o: $(B)/calibrate/%.fatbin
	@printf '.section .rodata\n.balign 16\n.global $*_fatbin\n$*_fatbin: .incbin "$<"\n.global $*_fatbin_end\n$*_fatbin_end: .byte 0\n.section .note.GNU-stack,"",@progbits\n' >$(@:.o=.s)
	@$(CC) -c $(@:.o=.s) -o $@
$(B)/bin/calibrate: $(CAL_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -Wl,--as-needed -o $@ $^ $(LDLIBS) -ldl

# The preloaded library that calibrate measures; -O2 in every variant (see dlsym in it), no sanitizer.
SHIM_SRC := $(sort $(wildcard calibrate/shim/*.c))
$(B)/bin/libgpusim_intercept.so: $(SHIM_SRC) $(wildcard calibrate/shim/*.h)
	@mkdir -p $(@D)
	@echo '  CC   $(@F)'
	@$(CC) -std=gnu11 -D_GNU_SOURCE -I. $(CUDA_INCLUDE) -DGPUSIM_CHECK_ABI -fsyntax-only $(SHIM_SRC)
	@$(CC) -std=gnu11 -D_GNU_SOURCE -I. -Wall -Wextra -Wshadow -Wconversion $(if $(filter 1,$(DEVELOPER)),-Werror) -O2 -g -fPIC -shared \
	    -fvisibility=hidden -Wl,-soname,$(@F) -o $@ $(SHIM_SRC) -pthread -ldl

# A card that is not there, for the tests of calibrate: tests/standin/README.md.
STANDIN_CC = mkdir -p $(@D) && echo '  CC   $(@F)' && \
    $(CC) -std=gnu11 -D_GNU_SOURCE -I. $(CUDA_INCLUDE) -Wall -Wextra -Wshadow -O2 -g -fPIC -shared -fvisibility=hidden \
    -Wl,-soname,$(@F) -Wl,-Bsymbolic $(patsubst %,-Wl$(comma)--version-script=%,$(filter %.map,$^)) -o $@ $(filter %.c,$^) -pthread -ldl -lm
comma := ,
STANDIN_CUDA := $(addprefix tests/standin/,libcuda.c memory.c entry.c card.c card.h clock.h)
$(B)/tests/standin/libcuda.so.1: $(STANDIN_CUDA)
	@$(STANDIN_CC)
$(B)/tests/standin/%/libcuda.so.1: tests/standin/%.map $(STANDIN_CUDA)
	@$(STANDIN_CC)
$(B)/tests/standin/libcublasLt.so.13: tests/standin/libcublasLt.c tests/standin/card.h
	@$(STANDIN_CC)
$(B)/tests/standin/libnvidia-ml.so.1: tests/standin/libnvidia-ml.c tests/standin/card.h
	@$(STANDIN_CC)
$(B)/tests/standin/libclock.so: tests/standin/clock.c tests/standin/clock.h
	@$(STANDIN_CC)
$(B)/tests/standin/libnetwork.so: tests/standin/network.c
	@$(STANDIN_CC)
# Linked to the stand-in, and it loads it besides: every way to a driver call.
CLIENT_CC = $(CC) -std=gnu11 -D_GNU_SOURCE -I. $(CUDA_INCLUDE) -Wall -Wextra -Wshadow -O2 -g -o $@ $(filter %.c %.so.1,$^) -pthread -ldl
$(B)/tests/standin/client: tests/standin/client.c tests/standin/client_memory.c tests/standin/client.h $(B)/tests/standin/libcuda.so.1
	@$(CLIENT_CC)
# The same with the library's hooks inside, all of it under TSan: what is preloaded cannot be.
$(B)/tests/standin/client_tsan: tests/standin/client.c tests/standin/client_memory.c tests/standin/client.h $(SHIM_SRC) \
    $(wildcard calibrate/shim/*.h) $(B)/tests/standin/libcuda.so.1
	@$(CLIENT_CC) -fsanitize=thread -DGPUSIM_WITHOUT_DLSYM -rdynamic

## deps           install what is missing to build, run and test (Debian, Ubuntu; else print the list)
TOOL_DEPS := gcc=gcc ar=binutils pkg-config=pkg-config gnuplot=gnuplot-nox $(if $(NVCC),g++=g++)
DEV_DEPS  := clang=clang,libclang-rt-dev clang-format=clang-format clang-tidy=clang-tidy cppcheck=cppcheck lcov=lcov zsh=zsh mmdebstrap=mmdebstrap
deps: DEPS_TOOLS = $(TOOL_DEPS)
## deps-dev       the same and the developers' tools: clang, clang-format, clang-tidy, cppcheck, lcov, zsh
deps-dev: DEPS_TOOLS = $(TOOL_DEPS) $(DEV_DEPS)
deps deps-dev:
	@need=; \
	for d in $(DEPS_TOOLS); do command -v "$${d%%=*}" >/dev/null 2>&1 || need="$$need $${d##*=}"; done; \
	for d in $(LIB_DEPS) $(TEST_DEPS); do pkg-config --exists "$${d%%=*}" 2>/dev/null || need="$$need $${d##*=}"; done; \
	[ -e /usr/include/stdio.h ] || need="$$need libc6-dev"; \
	if [ -z "$$need" ]; then exit 0; fi; need=$$(echo $$need | tr , ' '); \
	as=; [ "$$(id -u)" = 0 ] || as=sudo; \
	if command -v apt-get >/dev/null && { [ -z "$$as" ] || command -v sudo >/dev/null; }; then \
	    echo "installing: $$need"; \
	    $$as apt-get -qq -o Acquire::Retries=3 update && \
	    $$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \
	        install --no-install-recommends $$need >/dev/null && exit 0; \
	fi; \
	echo "please install (names of Debian packages): $$need" >&2; \
	for d in $(LIB_DEPS); do pkg-config --exists "$${d%%=*}" 2>/dev/null || exit 1; done; \
	command -v $(CC) >/dev/null # without the rest the build goes on

## run            deps, build, replay scenarios/mixed.json under every policy, say where the report lies
SCENARIO ?= scenarios/mixed.json
run: deps
	@+$(MAKE) --no-print-directory all
	build/gpusim run $(SCENARIO) --sensitivity

## check          deps, build and every test; the last line is `N passed, N failed, N skipped`
check: deps
	@+$(MAKE) --no-print-directory test
## test           check without deps; T=word runs only the programs whose name holds it
test: $(GPUSIM) $(TESTS) $(REPLAYS) $(CALIBRATE) $(SHIM) $(STANDIN)
	@$(ENV) $(HDR_ENV) B=$(B) tests/run_tests.sh $(if $(T)$(ONLY),--programs-only) $(TESTS) $(REPLAYS)

## asan ubsan tsan   check under that sanitizer; `sanitize` is the first two in one
asan ubsan sanitize tsan: deps
	@+$(MAKE) --no-print-directory test VARIANT=$@
## clang          compile everything with clang, warnings are errors
clang:
	@+$(MAKE) --no-print-directory everything VARIANT=clang DEVELOPER=1
# Every program of this variant, built but not run.
.PHONY: everything
everything: $(GPUSIM) $(TESTS) $(REPLAYS) $(BENCHES) $(CAL_LIB) $(CALIBRATE) $(SHIM) $(STANDIN)

## coverage       run the tests with coverage: at least 85 % of lines, 70 % of branches; HTML where lcov is found
# Tests that fail and too little coverage (tests/run_coverage.sh) are told at the end, after the figures.
coverage:
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	@+$(MAKE) --no-print-directory test VARIANT=coverage && rm -f build/coverage/failed || touch build/coverage/failed
	@+$(MAKE) --no-print-directory coverage-report
	@[ ! -e build/coverage/failed ] || { echo 'some tests failed, see above' >&2; exit 1; }
.PHONY: coverage-report
coverage-report:
	@rm -f build/coverage/short
	@find build/coverage/sim build/coverage/traces build/coverage/plots build/coverage/calibrate -name '*.gcda' | xargs gcov -nb 2>/dev/null | \
	    tests/run_coverage.sh || touch build/coverage/short
	@if command -v lcov >/dev/null; then \
	    lcov -q -c -d build/coverage -o build/coverage/all.info 2>/dev/null && \
	    lcov -q -e build/coverage/all.info '$(CURDIR)/sim/*' '$(CURDIR)/traces/*' '$(CURDIR)/plots/*' '$(CURDIR)/calibrate/*' \
	         -o build/coverage/own.info 2>/dev/null && \
	    genhtml -q -o build/coverage/html build/coverage/own.info 2>/dev/null && echo 'see build/coverage/html/index.html'; \
	else echo "lcov is not installed ('make deps-dev' installs it): no HTML"; fi
	@[ ! -e build/coverage/short ] || { echo 'too little coverage, see above' >&2; exit 1; }

## bench          run tests/bench/bench_*.c BENCH_RUNS (3) times: medians, spread, build/release/bench.json; T=word picks some
bench: $(call pick,$(BENCHES)) $(GPUSIM)
	@$(ENV) B=$(B) tests/run_bench.sh $(filter $(B)/tests/%,$^)
.PHONY: benches
benches: $(BENCHES) $(GPUSIM)

## validate       predicted against measured for every reference set
validate: all
	@$(ENV) $(B)/gpusim validate

## fuzz           libFuzzer on every reader for FUZZ_S seconds each (clang); T=word picks some
fuzz:
	@+$(MAKE) --no-print-directory fuzz-run VARIANT=fuzz
.PHONY: fuzz-run
FUZZERS := $(call pick,$(FUZZ_SRC:%.c=$(B)/%))
fuzz-run: $(FUZZERS)
	@for f in $(FUZZERS); do n=$${f##*/fuzz_}; mkdir -p $(B)/corpus/$$n $(B)/crashes; \
	    seeds=; [ ! -d tests/fuzz/corpus/$$n ] || seeds=tests/fuzz/corpus/$$n; \
	    echo "== $$n, $(FUZZ_S) s"; \
	    $(ENV) $$f -max_total_time=$(FUZZ_S) -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix=$(B)/crashes/$$n- $(B)/corpus/$$n $$seeds || exit 1; done
ifeq ($(VARIANT),fuzz)
$(B)/tests/fuzz/fuzz_%: $(B)/tests/fuzz/fuzz_%.o $(SUPPORT) $(LIB)
	@$(CC) $(CFLAGS) -fsanitize=fuzzer -pthread $(LDFLAGS) -o $@ $^ $(LDLIBS) $(TEST_LIBS)
endif

## soak           the slow checks: lint, coverage, 60 s of fuzzing for each reader, then tests/soak/*.sh
soak: deps-dev
	@+$(MAKE) --no-print-directory all
	@+$(MAKE) --no-print-directory lint
	@+$(MAKE) --no-print-directory coverage
	@+$(MAKE) --no-print-directory fuzz FUZZ_S=60
	@$(ENV) B=$(B) TEST_TIMEOUT=3600 tests/run_tests.sh --programs-only $(sort $(wildcard tests/soak/*.sh))

## mutants        break the program in more than a hundred ways (LONG=1: all), one at a time: the test named for each must fail
mutants: deps
	@B=$(B) T=$(T) tests/run_mutants.sh

## hdr-check      every header compiles alone, with gcc and clang
# Without CUDA's own headers those that need them are left out.
HDR_CUDA = $(if $(CUDA_INCLUDE),,$(shell grep -l '^\#include <cu' $(HEADERS)))
HDR_ENV  = HEADERS="$(filter-out $(HDR_CUDA),$(HEADERS))" HDR_CFLAGS="$(filter-out -DGPUSIM_VERSION%,$(ALL_CFLAGS)) -Itests $(PKG_CFLAGS) $(CUDA_INCLUDE)"
hdr-check check-headers:
	@$(HDR_ENV) tests/check_headers.sh
## check-layers   includes point down only
check-layers:
	@tests/check_layers.sh
## check-golden   command lines against their stored output; `make accept` stores the present one
check-golden: $(GPUSIM)
	@$(ENV) tests/run_golden.sh
accept: $(GPUSIM)
	@$(ENV) tests/run_golden.sh --accept $(CASE)

## format         clang-format on every source file
format:
	clang-format -i $(C_FILES) $(HEADERS)
## lint           clang-tidy, cppcheck and gcc -fanalyzer on every source file: no finding, or status 1; T=word picks some
lint: tidy cppcheck analyze
## tidy cppcheck analyze   one of the three
# What needs CUDA: where nvcc is found.
LINT_SRC = $(call pick,$(SRC) $(if $(NVCC),$(CAL_SRC),$(filter-out calibrate/device_cuda%,$(CAL_SRC))) $(SHIM_SRC))
LINT     = printf '%s\n' $(LINT_SRC) | tests/run_lint.sh
LINT_CFLAGS = $(filter-out -Werror,$(ALL_CFLAGS)) $(PKG_CFLAGS) $(CUDA_INCLUDE)
has      = command -v $(1) >/dev/null || { echo "$(1) is not installed; 'make deps-dev' installs it" >&2; exit 1; }
tidy:
	@$(call has,clang-tidy)
	@$(LINT) clang-tidy --quiet {} -- $(LINT_CFLAGS)
# No `uninitvar`: what a loop has filled is not set for it, and clang-tidy looks for the same and follows loops.
cppcheck:
	@$(call has,cppcheck)
	@$(LINT) cppcheck --quiet --enable=warning,performance --std=c11 --inline-suppr --library=posix --library=tests/cppcheck.cfg \
	    --suppress=uninitvar --suppress=legacyUninitvar --template='{file}:{line}: warning: {message} [{id}]' \
	    $(filter -D% -I%,$(ALL_CFLAGS)) {}
# Nor of gcc 12, for the same reason; what is kept in an array of a struct has leaked for it: LeakSanitizer looks at every test.
# -Wmaybe-uninitialized is for the build, at -O2: at -O1 it guesses.
analyze:
	@$(LINT) gcc $(LINT_CFLAGS) -O1 -fanalyzer -Wno-maybe-uninitialized \
	    -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-malloc-leak -S -o /dev/null {}

## install        into DESTDIR and PREFIX (/usr/local): programs, data, samples, plot templates, manual, shell completion
SHARE   = $(DESTDIR)$(PREFIX)/share
# The data keep their places relative to each other, so paths inside shipped scenarios hold.
DATA    = $(wildcard scenarios traces/samples plots/templates calibrate/profiles)
# Where zsh looks, below share/: a distribution's packages may have a place of their own (Debian: zsh/vendor-completions).
ZSH_DIR ?= zsh/site-functions
# Written by the program, from the tables it parses with.
MANUAL  = man/man1/gpusim.1 man/man5/gpusim-scenario.5 bash-completion/completions/gpusim \
          $(ZSH_DIR)/_gpusim
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/gpusim
	install $(GPUSIM) $(CALIBRATE) $(DESTDIR)$(PREFIX)/bin/
	cd $(CURDIR) && find $(DATA) -type f -exec install -D -m 644 {} $(abspath $(SHARE))/gpusim/{} \;
	install -d $(dir $(addprefix $(SHARE)/,$(MANUAL)))
	$(GPUSIM) manual gpusim >$(SHARE)/man/man1/gpusim.1
	$(if $(CALIBRATE),$(CALIBRATE) --manual >$(SHARE)/man/man1/calibrate.1)
	$(if $(SHIM),install -D $(SHIM) $(DESTDIR)$(PREFIX)/lib/gpusim/$(notdir $(SHIM)))
	$(GPUSIM) manual scenario >$(SHARE)/man/man5/gpusim-scenario.5
	$(GPUSIM) manual bash >$(SHARE)/bash-completion/completions/gpusim
	$(GPUSIM) manual zsh >$(SHARE)/$(ZSH_DIR)/_gpusim
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/gpusim $(DESTDIR)$(PREFIX)/bin/calibrate $(addprefix $(SHARE)/,$(MANUAL) man/man1/calibrate.1)
	rm -rf $(SHARE)/gpusim $(DESTDIR)$(PREFIX)/lib/gpusim

## clean          remove build/
clean:
	rm -rf build
## help           this list
help:
	@sed -n 's/^## //p' $(firstword $(MAKEFILE_LIST))

-include $(wildcard $(B)/*/*.d $(B)/*/*/*.d)
