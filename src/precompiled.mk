# The standard library's headers take the compiler longer than what most files say themselves, so they
# are read once per build. Every file still includes what it uses: `make lint` reads them without this.
#
# Set before: PRECOMPILED (the header to write), PRECOMPILE (the compiler with the objects' flags).
# Objects depend on $(PRECOMPILED).gch and are compiled with -include $(PRECOMPILED).

PRECOMPILED_SOURCE := $(patsubst %.mk,%.hpp,$(abspath $(lastword $(MAKEFILE_LIST))))

$(PRECOMPILED).gch: $(PRECOMPILED_SOURCE)
	@mkdir -p '$(@D)'
	@echo '#include "$(PRECOMPILED_SOURCE)"' > '$(PRECOMPILED)'
	$(PRECOMPILE) -x c++-header -o '$@' '$(PRECOMPILED)'
