# How a loadable module in C++ is built with PGXS: the extension itself, and the test modules.
#
# Set before: ROOT (the source tree), MODULE_big, SOURCES (relative to ROOT), SHLIB_LINK if more
# libraries are needed. Objects have absolute names, so that a build in another directory never
# takes this one's.

PG_CONFIG ?= pg_config
PG_MAJOR  := $(shell '$(PG_CONFIG)' --version 2>/dev/null | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
PGXS      := $(shell '$(PG_CONFIG)' --pgxs 2>/dev/null)
ifeq ($(wildcard $(PGXS)),)
$(error no PostgreSQL server headers found through PG_CONFIG=$(PG_CONFIG): run "make setup")
endif
ifeq ($(filter 15 16 17 18,$(PG_MAJOR)),)
$(error ai supports PostgreSQL 15 to 18; PG_CONFIG=$(PG_CONFIG) is version $(PG_MAJOR))
endif

OBJECT_DIR := $(CURDIR)/build/obj
OBJS       := $(patsubst %.cpp,$(OBJECT_DIR)/%.o,$(SOURCES))

# -isystem keeps the server's own headers quiet. Its PGDLLEXPORT is empty in PostgreSQL 15.
PG_CPPFLAGS = -I$(ROOT)/src -isystem $(shell '$(PG_CONFIG)' --includedir-server) \
              '-DAI_VERSION="$(AI_VERSION)"' \
              "-DPGDLLEXPORT=__attribute__((visibility(\"default\")))"
# -Wno-register: PostgreSQL 15's headers say `register`, which C++17 removed.
# -Wshadow=local: the server has globals named text, name, interval.
PG_CXXFLAGS = -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden -MMD -MP \
              -Wextra -Wshadow=local -Wnon-virtual-dtor -Woverloaded-virtual \
              -Wno-missing-field-initializers -Wno-register
# gcc drives the link, so libstdc++ is named.
SHLIB_LINK += -lstdc++

ifneq ($(CI)$(WERROR),)
PG_CXXFLAGS += -Werror
endif
ifneq ($(SANITIZE),)
# The server's flags have -fwrapv, which would blind UBSan to signed overflow.
PG_CXXFLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
               -fno-wrapv -O1
SHLIB_LINK  += -fsanitize=$(SANITIZE)
endif

# No bitcode, on purpose: the JIT compiler would inline our functions without the unwind tables
# that their exceptions need.
override with_llvm := no

include $(PGXS)

# Of the source tree only these are looked for: all of it would find the files of a build made there.
VPATH :=
vpath %.control $(ROOT)
vpath sql/%.sql $(ROOT)

PRECOMPILED := $(OBJECT_DIR)/precompiled.hpp
PRECOMPILE   = $(CXX) $(CXXFLAGS) $(CPPFLAGS)
include $(ROOT)/src/precompiled.mk

# What is not core reads the server's headers, too: they are longer still.
SERVER_HEADER      := $(ROOT)/src/pg/postgres.hpp
SERVER_PRECOMPILED := $(OBJECT_DIR)/precompiled_server.hpp
SERVER_OBJS        := $(filter-out $(OBJECT_DIR)/src/core/%,$(OBJS))
$(SERVER_OBJS): $(SERVER_PRECOMPILED).gch
$(SERVER_OBJS): private PRECOMPILED := $(SERVER_PRECOMPILED)
$(SERVER_PRECOMPILED).gch: $(PRECOMPILED_SOURCE) $(SERVER_HEADER)
	@mkdir -p '$(@D)'
	@printf '#include "%s"\n' $(PRECOMPILED_SOURCE) $(SERVER_HEADER) > '$(SERVER_PRECOMPILED)'
	$(PRECOMPILE) -x c++-header -o '$@' '$(SERVER_PRECOMPILED)'

$(OBJECT_DIR)/%.o: $(ROOT)/%.cpp $(PRECOMPILED).gch
	@mkdir -p '$(@D)'
	$(CXX) -include $(PRECOMPILED) $(CXXFLAGS) $(CPPFLAGS) -MT $@ -c -o $@ $<

-include $(OBJS:.o=.d)
