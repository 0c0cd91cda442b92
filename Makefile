# ai: keeps embeddings in step with tables, inside the database.
#
#   make demo    installs what is missing, builds, and shows it on a private throw-away server
#   make test    the same set-up, then every test
#   make help    all targets
#
# `make` and `make install` are ordinary PGXS. Building in another directory works too:
# make -f <this directory>/Makefile. The version is written in ai.control and nowhere else.

EXTENSION  = ai
MODULE_big = ai
ROOT    := $(patsubst %/,%,$(dir $(abspath $(firstword $(MAKEFILE_LIST)))))
AI_VERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" '$(ROOT)/ai.control')
SUITE   ?= trixie
# What is fetched at set-up, and installed below the server's share directory.
TABLES  := $(ROOT)/build/share

.DEFAULT_GOAL := all

# ---- what needs no server: these goals work on a machine that has nothing yet ----

TOOL_GOALS = help setup token-tables model demo demo-stop test unit simulate check-regress check-tap check-sanitizers \
             check-security check-vectors bench chaos fuzz test-chroot lint format
.PHONY: $(TOOL_GOALS)

help:
	@echo 'make                  build the extension for the server of PG_CONFIG'
	@echo 'make install          install it there'
	@echo 'make setup            install what is missing on this machine'
	@echo 'make token-tables     fetch and pack the tables for exact token counts'
	@echo 'make model            fetch and pack the embedded model'
	@echo 'make demo             see it at work on a private throw-away server'
	@echo 'make demo-stop        stop that server and remove it'
	@echo 'make test             set-up, then every test'
	@echo 'make unit             tests of the pure core, with sanitizers     FILTER=[tag]'
	@echo 'make simulate         histories of the pipeline, with faults         SEEDS=10000 FIRST=1'
	@echo 'make check-regress    SQL tests in a temporary server             TESTS="name ..."'
	@echo 'make check-tap        process tests in temporary servers          TESTS="001_name ..."'
	@echo 'make check-sanitizers SQL and process tests with the library under ASan, UBSan and LSan'
	@echo 'make check-security   functions with raised rights, statements of workers and as whom, names in them'
	@echo 'make check-vectors    splitters against reference cases           VECTORS=directory'
	@echo 'make bench            ratios, measured side by side'
	@echo 'make chaos            faults of all kinds, at length              AI_SEED=number'
	@echo 'make fuzz             fuzzers of the core                         SECONDS_EACH=60'
	@echo 'make test-chroot      make test in a fresh Debian                 SUITE=trixie|sid|bookworm'
	@echo 'make lint             clang-format and clang-tidy, no change made'
	@echo 'make format           clang-format in place'

# Without the tables token counts are estimates, without the model texts are embedded elsewhere, and
# all else works: set-up does not fail for them. They are made side by side.
setup:
	@'$(ROOT)/scripts/setup'
	@'$(ROOT)/scripts/token-tables' '$(TABLES)' & tables=$$!; \
	  '$(ROOT)/scripts/model' '$(TABLES)' || [ $$? = 3 ] || { wait; exit 1; }; \
	  wait $$tables || [ $$? = 3 ]

token-tables:
	@'$(ROOT)/scripts/token-tables' '$(TABLES)'

model:
	@'$(ROOT)/scripts/model' '$(TABLES)'

demo: setup
	@'$(ROOT)/scripts/demo' start

demo-stop:
	@'$(ROOT)/scripts/demo' stop

test: setup
	@'$(ROOT)/scripts/setup' monitoring
	@'$(ROOT)/scripts/test' unit regress tap

unit:
	@'$(ROOT)/scripts/test' unit

simulate:
	@$(MAKE) --no-print-directory -C '$(ROOT)/test/unit' simulate

check-regress:
	@'$(ROOT)/scripts/test' regress

check-tap:
	@'$(ROOT)/scripts/test' tap

check-sanitizers: setup
	@'$(ROOT)/scripts/setup' monitoring
	@SANITIZE=address,undefined '$(ROOT)/scripts/test' regress tap

# Prints what the test lists; make test runs it, too.
check-security:
	@SHOW=1 TESTS='068_check_security' '$(ROOT)/scripts/test' tap

check-vectors:
	@$(MAKE) --no-print-directory -C '$(ROOT)/test/vectors' run VECTORS='$(abspath $(VECTORS))'

# All parts run, whatever the first one says.
bench:
	@status=0; $(MAKE) --no-print-directory -C '$(ROOT)/test/bench' run || status=1; \
	  '$(ROOT)/scripts/bench-server' || status=1; '$(ROOT)/scripts/bench-insert' || status=1; \
	  $(MAKE) --no-print-directory -C '$(ROOT)/test/bench' run-engine || status=1; exit $$status

# Long versions of tests that make test runs too; the seed that is printed repeats a run.
chaos:
	@AI_CHAOS=1 TESTS='052_faults 055_limits 056_update 062_providers' '$(ROOT)/scripts/test' tap

fuzz:
	@$(MAKE) --no-print-directory -C '$(ROOT)/test/fuzz' run

test-chroot:
	@'$(ROOT)/scripts/setup' chroot
	@'$(ROOT)/scripts/test-chroot' '$(SUITE)'

lint:
	@'$(ROOT)/scripts/setup' lint
	@'$(ROOT)/scripts/lint'

format:
	@'$(ROOT)/scripts/lint' --fix

# ---- the extension: PGXS ----

ifneq ($(filter-out $(TOOL_GOALS),$(or $(MAKECMDGOALS),all)),)

SOURCES   := $(sort $(shell cd '$(ROOT)' && find src -name '*.cpp' ! -path 'src/tool/*'))
# The parts of the install script; and of an update script, which are the changes of tables since that
# version and all that can be replaced.
SQL_PARTS := $(addprefix $(ROOT)/sql/,$(shell sed '/^#/d' '$(ROOT)/sql/order'))
REPLACED  := $(filter $(ROOT)/sql/functions/% $(ROOT)/sql/views/%,$(SQL_PARTS))
BEFORE    := $(sort $(wildcard $(ROOT)/sql/updates/before/*.sql))
AFTER     := $(sort $(wildcard $(ROOT)/sql/updates/after/*.sql))
SCRIPT    := ai--$(AI_VERSION).sql
UPDATES   := $(patsubst $(ROOT)/sql/updates/before/%.sql,ai--%--$(AI_VERSION).sql,$(BEFORE))
DATA_built = $(SCRIPT) $(UPDATES)
# The version script hides what the standard library's templates would export.
SHLIB_LINK = -Wl,--version-script=$(ROOT)/src/exports.map -lcurl -lpcre2-8 -lcrypto
EXTRA_CLEAN = build/obj ai--*.sql

include $(ROOT)/src/module.mk

# A new version number must reach the library, and a changed export list must relink it.
$(addprefix $(OBJECT_DIR)/src/,pg/functions/version.o pg/settings_transport.o worker/process/extension.o): \
  $(ROOT)/ai.control
$(shlib): $(ROOT)/src/exports.map

# Tables and models that were fetched are installed too.
install: install-tables
.PHONY: install-tables
install-tables:
	$(MKDIR_P) '$(DESTDIR)$(datadir)/ai'
	for table in $(wildcard $(TABLES)/*.tokens $(TABLES)/*.model); do \
	  $(INSTALL_DATA) $$table '$(DESTDIR)$(datadir)/ai/'; done

$(SCRIPT): $(ROOT)/sql/order $(SQL_PARTS) $(ROOT)/ai.control
	cat $(SQL_PARTS) > $@

# The changes since a version are those that were made since, and those since each later one.
since = $(shell printf '%s\n' $(1) | sed -n '\%/$*[.]sql$$%,$$p')
$(UPDATES): ai--%--$(AI_VERSION).sql: $(ROOT)/sql/order $(BEFORE) $(REPLACED) $(AFTER) $(ROOT)/ai.control
	cat $(call since,$(BEFORE)) $(REPLACED) $(call since,$(AFTER)) > $@

endif
