# krylocl. `make` builds, `make demo` runs an example, `make check` tests, `make help` lists the rest.
# Settings on the command line or in an untracked config.mk: CC, ARCH (-march=native; portable), OPT, CFLAGS, LDFLAGS, BUILD,
# PREFIX, LIBDIR (PREFIX/lib, below it), RPATH (of the program), MPICC (mpicc.mpich), SAN (address,undefined), V=1 (show
# commands); HAVE_OPENCL= and the like omit a part, GPL=no the parts that are under the GPL.
MAKEFLAGS += -rR
-include config.mk
CC      := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
AR      := $(if $(filter default undefined,$(origin AR)),ar,$(AR))
BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
RPATH   ?= $$ORIGIN:$$ORIGIN/../lib
OPT     ?= -O3
WARN    ?= -Wall -Wextra -Wshadow -Wstrict-prototypes
Q       := $(if $(V),,@)
JOBS    := $(shell getconf _NPROCESSORS_ONLN)
VERSION := $(shell sed -n 's/.define KCL_VERSION "\(.*\)"/\1/p' include/krylocl.h)
SONAME  := libkrylocl.so.0
SOLINK  := libkrylocl.so
# nodelete: its threads sleep in it
SOFLAGS  = -shared -Wl,-soname,$(SONAME) -Wl,-z,nodelete -Wl,--version-script,packaging/krylocl.map
CL_H     = CL/cl.h
ifeq ($(shell uname),Darwin)
  brew    = $(shell brew --prefix $(1) 2>/dev/null)
  SONAME := libkrylocl.0.dylib
  SOLINK := libkrylocl.dylib
  SOFLAGS = -dynamiclib -install_name $(LIBDIR)/$(SONAME)
  CL_H    = OpenCL/cl.h
  CFLAGS  += -I$(call brew)/include
  LDFLAGS += -L$(call brew)/lib
endif

# A part is available if a program with its headers compiles and links with its libraries.
hash  := \#
comma := ,
probe  = $(shell o=$$(mktemp) && printf '%s\n' $(1:%='$(hash)include <%>') 'int main(void) { return 0; }' | \
           $(CC) $(CFLAGS) $(LDFLAGS) -x c - -o $$o $(2) >/dev/null 2>&1 && echo 1; rm -f $$o)
ifneq ($(filter-out help clean dist demo fuzz check check-sanitizers check-matrices methods format,$(or $(MAKECMDGOALS),all)),)
ifeq ($(call probe,stdlib.h,),)
  $(error no C compiler: $(CC) cannot make a program. Install gcc and libc6-dev (Debian, Ubuntu), gcc (Fedora, Arch) or the command-line tools of Xcode (macOS), or set CC)
endif
ARCH            := $(if $(filter undefined,$(origin ARCH)),$(if $(call probe,,-march=native),-march=native),$(ARCH))
HAVE_OPENCL     := $(call probe,$(CL_H))
HAVE_LIBDEFLATE := $(call probe,libdeflate.h,-ldeflate)
HAVE_ZLIB       := $(if $(HAVE_LIBDEFLATE),,$(call probe,zlib.h,-lz))
HAVE_CHOLMOD    := $(if $(filter no,$(GPL)),,$(or $(call probe,suitesparse/umfpack.h,-lumfpack -lcholmod),$(call probe,umfpack.h,-lumfpack -lcholmod)))
HAVE_SPQR       := $(if $(HAVE_CHOLMOD),$(call probe,suitesparse/SuiteSparseQR_C.h,-lspqr -lcholmod))
HAVE_CJSON      := $(call probe,cjson/cJSON.h,-lcjson)
# The flags of Open MPI or MPICH: of the compiler MPICC (mpicc.mpich) if it is set, else of pkg-config, else of mpicc.
MPI_PACKAGE := $(if $(MPICC),,$(firstword $(foreach p,ompi-c mpich,$(shell pkg-config --exists $p 2>/dev/null && echo $p))))
MPI_SHOW    := $(if $(MPI_PACKAGE),,$(shell $(or $(MPICC),mpicc) -show 2>/dev/null))
MPI_CFLAGS  := $(if $(MPI_PACKAGE),$(shell pkg-config --cflags $(MPI_PACKAGE)),$(filter -I% -D%,$(MPI_SHOW)))
MPI_LIBS    := $(if $(MPI_PACKAGE),$(shell pkg-config --libs $(MPI_PACKAGE)),$(filter -L% -l% -Wl%,$(MPI_SHOW)))
HAVE_MPI    := $(if $(MPI_LIBS),$(call probe,mpi.h,$(MPI_CFLAGS) $(MPI_LIBS)))
HAVE_METIS  := $(if $(HAVE_MPI),$(call probe,metis.h,-lmetis))
endif
# ARCH=portable: for every processor of its kind. For x86-64 the shared libraries are built a second time, with AVX-512, in the
# folder from which the dynamic linker of glibc takes them where the processor has it, and the program is linked with them.
ifeq ($(ARCH),portable)
  override ARCH :=
  WARN += -Wno-psabi # vectors pass between static functions alone
  LEVELS := $(if $(and $(filter x86_64%,$(shell $(CC) -dumpmachine)),$(shell getconf GNU_LIBC_VERSION 2>/dev/null),$(call probe,,-march=x86-64-v4)),x86-64-v4)
endif
missing = $(if $(HAVE_OPENCL),,no OpenCL headers (opencl-headers): only the cpu device;) \
  $(if $(HAVE_LIBDEFLATE)$(HAVE_ZLIB),,no libdeflate and no zlib (libdeflate-dev, zlib1g-dev): no .gz files;) \
  $(if $(HAVE_CHOLMOD)$(filter no,$(GPL)),,no CHOLMOD and UMFPACK (libsuitesparse-dev): no direct solutions for --check;) \
  $(if $(HAVE_CHOLMOD),$(if $(HAVE_SPQR),,no SuiteSparseQR (libsuitesparse-dev): no direct solutions of least squares;)) \
  $(if $(HAVE_CJSON),,no cJSON (libcjson-dev): only the library, not the program;) \
  $(if $(HAVE_MPI),,no MPI (libopenmpi-dev openmpi-bin): one process alone;) \
  $(if $(HAVE_MPI),$(if $(HAVE_METIS),,no METIS (libmetis-dev): no --partition metis;))
say_missing = echo '$(strip $(missing))' | tr ';' '\n' | sed '/./!d; s/^ */krylocl: /'
parts = $(if $(HAVE_OPENCL),,-DKCL_NO_OPENCL) $(foreach p,LIBDEFLATE ZLIB CHOLMOD SPQR,$(if $(HAVE_$p),-DHAVE_$p))
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(ARCH) -g1 -fPIC -pthread -fopenmp-simd -fvisibility=hidden $(WARN) -I. -Iinclude $(parts) \
             $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all -Wno-format-truncation -Wno-pass-failed -Wno-unknown-warning-option) $(if $(findstring thread,$(SAN)),-DKCL_ALL_THREADS=1) $(CFLAGS)
LIBS = $(if $(HAVE_LIBDEFLATE),-ldeflate) $(if $(HAVE_ZLIB),-lz) \
       $(if $(HAVE_SPQR),-lspqr) $(if $(HAVE_CHOLMOD),-lumfpack -lcholmod) -ldl -lm

# Libraries of libkrylocl_mpi, beside those of libkrylocl.
mpi_libs = $(if $(HAVE_MPI),$(MPI_LIBS) $(if $(HAVE_METIS),-lmetis))

# Files with typed elements are compiled once per scalar type: spmv/ell.c to ell.s.o ell.d.o ... Those in double alone: d, z.
TYPED = $(wildcard core/cpu/*.c) $(filter-out spmv/registry.c spmv/rank.c,$(wildcard spmv/*.c))
WIDE  = sparse/local.c $(addprefix factors/,eliminate.c threshold.c cholesky.c)
CL_C  = $(wildcard core/opencl/*.c core/opencl/*/*.c multigrid/opencl/*.c) multigrid/builder_device.c
PLAIN = $(filter-out $(TYPED) $(WIDE) $(if $(HAVE_OPENCL),,$(CL_C)),\
          $(wildcard core/*/*.c core/*/*/*.c data/*/*.c factors/*.c multigrid/*.c multigrid/*/*.c solver/*.c solver/*/*.c sparse/*.c spmv/*.c))
# Formats that include spmv/narrow.h once more, for vectors of float.
NARROW = $(shell grep -l spmv/narrow.h spmv/*.c)
OBJ   = $(PLAIN:%.c=$(BUILD)/%.o) $(foreach t,s d c z,$(TYPED:%.c=$(BUILD)/%.$t.o)) $(foreach t,d z,$(WIDE:%.c=$(BUILD)/%.$t.o)) $(NARROW:%.c=$(BUILD)/%.m.o) $(BUILD)/kernels.o
CLI   = $(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/*.c cli/*/*.c)) $(BUILD)/commit.o
MPI_OBJ = $(patsubst %.c,$(BUILD)/%.o,$(filter-out distributed/petsc/%,$(wildcard distributed/*.c distributed/*/*.c)))
TESTS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/test_*.c tests/conform_*.c tests/real*.c))
MPI_TESTS = $(if $(HAVE_MPI),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/mpi/*.c)))
FUZZ  = $(if $(HAVE_CJSON),$(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c)))
LIB   = $(BUILD)/libkrylocl.a
MPI_LIB = $(BUILD)/libkrylocl_mpi.a
MPI_SO  = libkrylocl_mpi.so.0
link  = $(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter-out %/flags %.map,$^)

all: shared $(LIB) $(if $(HAVE_MPI),$(MPI_LIB)) $(LEVELS) $(if $(HAVE_CJSON),$(BUILD)/krylocl) $(BUILD)/heatsink-picture
shared: $(BUILD)/$(SONAME) $(if $(HAVE_MPI),$(BUILD)/$(MPI_SO))
$(LEVELS):
	$(Q)$(MAKE) --no-print-directory ARCH=-march=$@ BUILD=$(BUILD)/glibc-hwcaps/$@ say_missing=: shared
$(BUILD)/krylocl: $(CLI) $(if $(LEVELS),$(BUILD)/$(if $(HAVE_MPI),$(MPI_SO),$(SONAME)),$(if $(HAVE_MPI),$(MPI_LIB),$(LIB)))
	$(link) $(if $(and $(LEVELS),$(RPATH)),-Wl$(comma)-rpath$(comma)'$(RPATH)') -lcjson -pthread $(LIBS) $(mpi_libs)
$(BUILD)/heatsink-picture: $(BUILD)/bench/heatsink_picture.o $(LIB)
	$(link) $(LIBS)
$(TESTS) $(BUILD)/bench/read $(BUILD)/bench/experiments/atomics: $(BUILD)/%: $(BUILD)/%.o $(LIB)
	$(link) $(LIBS)
# Fuzz targets: with LIBFUZZER=1 (clang) by libFuzzer, otherwise programs that run the corpus; main is theirs. libFuzzer sees
# which branches an input takes in what targets are for, readers, options and the command line; elsewhere it would make tests slower.
$(if $(LIBFUZZER),$(patsubst %,$(BUILD)/%/%.o,data cli core/base core/matrix core/tuning tests/fuzz) \
  $(patsubst %,$(BUILD)/solver/%.o,option% checkpoint% interface/checkpoint%),none): ALL_CFLAGS += -fsanitize=fuzzer-no-link
$(BUILD)/tests/fuzz/program.o: cli/main.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Dmain=krylocl_main -Wno-missing-prototypes -MMD -MP -c $< -o $@
$(FUZZ): $(BUILD)/%: $(BUILD)/%.o $(if $(LIBFUZZER),,$(BUILD)/tests/fuzz/corpus.o) \
           $(BUILD)/tests/fuzz/program.o $(filter-out %/main.o,$(CLI)) $(if $(HAVE_MPI),$(MPI_LIB),$(LIB))
	$(link) $(if $(LIBFUZZER),-fsanitize=fuzzer) -lcjson -pthread $(LIBS) $(mpi_libs)
$(BUILD)/$(SONAME): $(OBJ) packaging/krylocl.map
	$(link) $(SOFLAGS) $(LIBS)
$(LIB): $(OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
# All of libkrylocl, and distributed/: the library itself knows nothing of MPI.
$(MPI_LIB): $(OBJ) $(MPI_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/$(MPI_SO): $(OBJ) $(MPI_OBJ) packaging/krylocl.map
	$(link) $(subst $(SONAME),$(MPI_SO),$(SOFLAGS)) $(LIBS) $(mpi_libs)
$(MPI_TESTS): $(BUILD)/%: $(BUILD)/%.o $(MPI_LIB)
	$(link) $(LIBS) $(mpi_libs)
$(MPI_OBJ) $(MPI_TESTS:%=%.o) $(if $(HAVE_MPI),$(patsubst %.c,$(BUILD)/%.o,$(wildcard cli/ranks/*.c))): ALL_CFLAGS += $(if $(HAVE_MPI),-DHAVE_MPI $(MPI_CFLAGS) $(if $(HAVE_METIS),-DHAVE_METIS))
# Tests and the program around the library: compiling with more takes longer than it saves.
$(patsubst %,%.o,$(TESTS) $(MPI_TESTS)) $(CLI): ALL_CFLAGS += -O1
$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@
define typed_rule
$(BUILD)/%.$(1).o: %.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$(Q)$$(CC) $$(ALL_CFLAGS) -DKCL_T=$(1) -DKCL_T_$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach t,s d c z m,$(eval $(call typed_rule,$t)))
$(BUILD)/kernels.c: kernels/embed.sh $(wildcard kernels/*.cl kernels/*.clh)
	@mkdir -p $(@D)
	$(Q)sh $^ > $@
$(BUILD)/kernels.o: $(BUILD)/kernels.c $(BUILD)/flags
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@
# The commit, for `krylocl version`: of a repository, of `make dist`, or empty.
commit := $(if $(wildcard .git),$(shell git describe --always --dirty --abbrev=10 2>/dev/null),$(shell sed -n 's/^\([0-9a-f]\{10\}\).*/\1/p' packaging/commit))
$(BUILD)/commit.c: $(if $(findstring "$(commit)",$(shell cat $(BUILD)/commit.c 2>/dev/null)),,always)
	@mkdir -p $(@D)
	@echo 'extern const char cli_commit[]; const char cli_commit[] = "$(commit)";' > $@
$(BUILD)/commit.o: $(BUILD)/commit.c $(BUILD)/flags
	$(Q)$(CC) $(ALL_CFLAGS) -c $< -o $@
# A change of flags, compiler or libraries recompiles everything and lists what is missing.
settings := $(strip $(CC) $(ALL_CFLAGS) $(LEVELS) $(if $(LIBFUZZER),-DLIBFUZZER) $(LDFLAGS) $(LIBS) $(mpi_libs))
before   := $(shell cat $(BUILD)/flags 2>/dev/null)
$(BUILD)/flags: $(if $(and $(findstring $(settings),$(before)),$(findstring $(before),$(settings))),,always)
	@mkdir -p $(@D)
	@$(say_missing)
	@echo '$(settings)' > $@
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

export CC BUILD SAN
# The two commands: packages first, then another make that finds them.
again = @COUNT=$(BUILD) sh .ci/busy.sh compiling $(MAKE) --no-print-directory $(if $(V),,-s) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))
demo:
	@sh .ci/packages.sh demo
	$(again) all
	@sh bench/demo.sh
check:
	@sh .ci/packages.sh check
	$(again) all tests
	@sh tests/run.sh
check-matrices:
	$(again) $(BUILD)/tests/real $(BUILD)/tests/real_products $(BUILD)/tests/real_least $(BUILD)/tests/real_default
	$(BUILD)/tests/real_default all
	$(BUILD)/tests/real_products all
	$(BUILD)/tests/real_least all
	$(BUILD)/tests/real all
methods:
	$(again) $(BUILD)/tests/real_methods
	OMP_NUM_THREADS=1 $(BUILD)/tests/real_methods all
tests: $(if $(and $(HAVE_MPI),$(if $(ONLY),$(filter petsc petsc.sh,$(ONLY)),1),$(shell pkg-config --exists PETSc && echo 1)),petsc) $(if $(ONLY),$(filter $(ONLY:%=$(BUILD)/tests/%),$(TESTS)),$(TESTS)) $(if $(or $(filter mpi mpi.sh ranks ranks.sh,$(ONLY)),$(if $(ONLY),,1)),$(MPI_TESTS)) $(if $(or $(filter fuzz fuzz.sh,$(ONLY)),$(if $(ONLY),,1)),$(FUZZ))
fuzz-programs: $(FUZZ)
libfuzzer = $(eval libfuzzer := $(shell o=$$(mktemp) && echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
              clang -fsanitize=fuzzer -x c - -o $$o >/dev/null 2>&1 && echo 1; rm -f $$o))$(libfuzzer)
# One build for all that sanitizers see: tests and fuzz targets. Without checks of pointers whose use the address sanitizer sees as
# well: clang reports NULL + 0, too. With lines alone, for messages; linked by lld, where it is installed, in a third of the time.
unchecked = -fno-sanitize=null$(comma)object-size$(comma)pointer-overflow
sanitized = CC=clang BUILD=build-san SAN=address$(comma)undefined OPT=-O1 CFLAGS='$(CFLAGS) -gline-tables-only $(unchecked)' \
  LDFLAGS='$(LDFLAGS) $(if $(shell command -v ld.lld),-fuse-ld=lld -Wno-unused-command-line-argument)' LIBFUZZER=1
fuzz:
	$(if $(libfuzzer),,@echo 'no libFuzzer (clang, libclang-rt-dev): the corpus and small changes of it alone')
	$(again) $(if $(libfuzzer),$(sanitized)) fuzz-programs
	@$(if $(libfuzzer),LIBFUZZER=1) FUZZ_SECONDS=$(or $(SECONDS),60) sh tests/fuzz.sh $(if $(libfuzzer),build-san,$(BUILD))/krylocl
check-sanitizers:
	$(MAKE) --no-print-directory check $(sanitized) FUZZ_SECONDS=$(or $(SECONDS),3)
# The plug-in of PETSc sees the public headers alone.
petsc: shared
	$(Q)$(if $(HAVE_MPI),,echo 'make petsc: needs MPI (libopenmpi-dev openmpi-bin)' >&2; exit 1;) \
	  PLUGIN_FLAGS='$(filter-out -I. $(parts),$(ALL_CFLAGS)) $(LDFLAGS)' MPI_FLAGS='$(MPI_CFLAGS) $(MPI_LIBS)' sh distributed/petsc/build.sh $(BUILD)
bench-read: $(BUILD)/bench/read
	$<
# The site: Sphinx and its theme from the package registry, in a folder of their own; a warning is an error.
site = $(BUILD)/site
$(site)/venv/installed: docs/requirements.txt
	@command -v doxygen >/dev/null || { echo 'make docs: needs doxygen (apt-get install doxygen)' >&2; exit 1; }
	@rm -rf $(site)/venv && mkdir -p $(site)
	@python3 -m venv $(site)/venv || { echo 'make docs: needs Python with venv (apt-get install python3-venv)' >&2; exit 1; }
	@$(site)/venv/bin/pip install --quiet --disable-pip-version-check -r $< || \
	  { echo 'make docs: pip could not install docs/requirements.txt (no network?)' >&2; exit 1; }
	@touch $@
docs: shared $(BUILD)/krylocl $(site)/venv/installed
	$(site)/venv/bin/python -m sphinx -b html -j auto -q -W --keep-going -d $(site)/doctrees docs $(site)/html
	@echo 'open $(site)/html/index.html'
# The experiments of docs/experiments.md; EXPERIMENTS="--quick" or others of their options, STUDIES="kuresson arm": these scripts.
STUDIES = kuresson counters arm losada fraga
gallery: $(BUILD)/krylocl
	sh bench/gallery.sh $< docs
atomics: $(if $(HAVE_OPENCL),$(BUILD)/bench/experiments/atomics)
experiments: all atomics
	@failed=; for e in $(STUDIES); do \
	  KRYLOCL=$(BUILD)/krylocl ATOMICS=$(BUILD)/bench/experiments/atomics sh bench/experiments/$$e.sh $(EXPERIMENTS) || failed=1; done; [ -z "$$failed" ]
PEER_MATRICES = poisson3d:100 hpcg:64 poisson2d:1000
peers: all
	$(Q)$(MAKE) -C bench/peers PEERS_BUILD=$(abspath $(BUILD)/peers)
	@mkdir -p $(BUILD)/data
	@for m in $(PEER_MATRICES); do $(BUILD)/krylocl generate $$m -q -o $(BUILD)/data/$$m.mtx; done
	bench/peers/run.sh $(PEER_MATRICES:%=$(BUILD)/data/%.mtx)

lib   = $(DESTDIR)$(LIBDIR)
share = $(DESTDIR)$(PREFIX)/share
pages = $(share)/man/man1/krylocl.1 $(share)/bash-completion/completions/krylocl \
        $(share)/zsh/site-functions/_krylocl $(share)/fish/vendor_completions.d/krylocl.fish
doc   = $(share)/doc/krylocl
cmake = $(lib)/cmake/krylocl
pc_lib = $(LIBDIR:$(PREFIX)/%=$${prefix}/%)
plugins = $(wildcard $(BUILD)/libpetsckrylocl*.so)
up     = $(shell echo '$(LIBDIR:$(PREFIX)/%=%)' | sed 's|[^/]*|..|g')
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(lib)/pkgconfig $(DESTDIR)$(PREFIX)/include
	$(if $(HAVE_CJSON),install $(BUILD)/krylocl $(DESTDIR)$(PREFIX)/bin)
	$(if $(HAVE_CJSON),install -d $(dir $(pages)))
	$(if $(HAVE_CJSON),$(BUILD)/krylocl man > $(word 1,$(pages)))
	$(if $(HAVE_CJSON),$(BUILD)/krylocl completion bash > $(word 2,$(pages)))
	$(if $(HAVE_CJSON),$(BUILD)/krylocl completion zsh > $(word 3,$(pages)))
	$(if $(HAVE_CJSON),$(BUILD)/krylocl completion fish > $(word 4,$(pages)))
	install -d $(doc)/docs/img $(doc)/docs/lab
	install -m 644 README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE $(doc)
	install -m 644 docs/*.md $(doc)/docs
	install -m 644 docs/img/* $(doc)/docs/img
	install -m 644 docs/lab/*.md $(doc)/docs/lab
	install $(BUILD)/$(SONAME) $(lib)
	ln -sf $(SONAME) $(lib)/$(SOLINK)
	install -m 644 $(LIB) $(lib)
	install -d $(DESTDIR)$(PREFIX)/include/krylocl
	install -m 644 include/krylocl.h include/krylocl.hpp include/krylocl.f90 $(DESTDIR)$(PREFIX)/include
	install -m 644 include/krylocl/*.h include/krylocl/*.hpp $(DESTDIR)$(PREFIX)/include/krylocl
	$(if $(HAVE_MPI),install $(BUILD)/$(MPI_SO) $(lib))
	$(if $(HAVE_MPI),ln -sf $(MPI_SO) $(lib)/libkrylocl_mpi.so)
	$(if $(HAVE_MPI),install -m 644 $(MPI_LIB) $(lib))
	$(if $(HAVE_MPI),install -m 644 include/krylocl_mpi.h $(DESTDIR)$(PREFIX)/include)
	printf '%s\n' 'prefix=$(PREFIX)' 'Name: krylocl' 'Description: Krylov methods on OpenCL' \
	  'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' 'Libs: -L$(pc_lib) -lkrylocl' \
	  'Libs.private: $(strip $(LIBS)) -pthread' > $(lib)/pkgconfig/krylocl.pc
	$(if $(plugins),install $(plugins) $(lib))
	$(if $(HAVE_CJSON),@$(if $(KERNELS),$(DESTDIR)$(PREFIX)/bin/krylocl tune --kernels --device opencl || true,echo 'first solves on an OpenCL device compile kernels: krylocl tune --kernels does so ahead (make install KERNELS=1 here)'))
	$(if $(HAVE_MPI),printf '%s\n' 'prefix=$(PREFIX)' 'Name: krylocl_mpi' 'Description: krylocl on several MPI ranks' \
	  'Version: $(VERSION)' 'Cflags: -I$${prefix}/include $(MPI_CFLAGS)' \
	  'Libs: -L$(pc_lib) -lkrylocl_mpi $(MPI_LIBS)' \
	  'Libs.private: $(strip $(LIBS)) $(if $(HAVE_METIS),-lmetis) -pthread' > $(lib)/pkgconfig/krylocl_mpi.pc)
	install -d $(cmake)
	sed 's|@PRIVATE_LIBS@|$(strip $(LIBS)) -pthread|; s|@INCLUDE@|$(up)/include|' packaging/krylocl-config.cmake.in > $(cmake)/krylocl-config.cmake
	sed 's|@VERSION@|$(VERSION)|' packaging/krylocl-config-version.cmake.in > $(cmake)/krylocl-config-version.cmake
	$(foreach l,$(LEVELS),install -d $(lib)/glibc-hwcaps/$l && install $(wildcard $(BUILD)/glibc-hwcaps/$l/*.so.0) $(lib)/glibc-hwcaps/$l;)
	@$(if $(DESTDIR),:,sh .ci/ldconfig.sh $(LIBDIR) $(SONAME))
	@$(if $(HAVE_CHOLMOD),echo 'krylocl: linked with CHOLMOD$(comma) UMFPACK$(if $(HAVE_SPQR),$(comma) SuiteSparseQR) (GPL): the GPL applies to copies of this build; make GPL=no leaves them out')
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/krylocl $(addprefix $(DESTDIR)$(PREFIX)/include/,krylocl.h krylocl.hpp krylocl.f90) \
	  $(lib)/$(SONAME) $(lib)/$(SOLINK) $(lib)/libkrylocl.a $(lib)/pkgconfig/krylocl.pc $(pages) \
	  $(lib)/pkgconfig/krylocl_mpi.pc $(lib)/$(MPI_SO) $(lib)/libkrylocl_mpi.so $(lib)/libkrylocl_mpi.a $(DESTDIR)$(PREFIX)/include/krylocl_mpi.h
	rm -f $(lib)/libpetsckrylocl.so $(lib)/libpetsckrylocl_complex.so
	rm -f $(lib)/glibc-hwcaps/*/$(SONAME) $(lib)/glibc-hwcaps/*/$(MPI_SO)
	rm -rf $(doc) $(cmake) $(DESTDIR)$(PREFIX)/include/krylocl
# The tree of the last commit, whose name git writes into packaging/commit.
dist:
	git archive --format=tar.gz --prefix=krylocl-$(VERSION)/ -o krylocl-$(VERSION).tar.gz HEAD
	@echo 'krylocl-$(VERSION).tar.gz'

# Drawn from the runs in bench/results (with all samples, compressed), and from nothing else: the page is not part of the tree.
drawn = $(BUILD)/results
runs  = $(patsubst bench/results/%.gz,$(drawn)/%,$(sort $(wildcard bench/results/*.json.gz)))
$(drawn)/%.json: bench/results/%.json.gz
	@mkdir -p $(@D)
	gzip -dc $< > $@
results: $(BUILD)/krylocl $(runs)
	$(BUILD)/krylocl report $(runs) -o $(drawn)/report.html --markdown $(drawn)/results.md
	{ printf '# Results\n\nDrawn by `make results` from the runs in bench/results; do not edit. The same command writes a page with figures,\n'; \
	  printf '$(drawn)/report.html. The columns are those of `krylocl bench` ([bench.md](bench.md)); "~": the samples scatter.\n\n'; \
	  sed 1,2d $(drawn)/results.md; } >docs/results.md

SOURCES = $(wildcard include/*.h include/*.hpp include/*/*.h include/*/*.hpp tests/cxx/*.[ch]pp kernels/*.h cli/*.[ch] cli/*/*.[ch] core/*/*.[ch] core/*/*/*.[ch] data/*/*.[ch] distributed/*.[ch] distributed/*/*.[ch] solver/*.[ch] solver/*/*.[ch] \
            factors/*.[ch] multigrid/*.[ch] multigrid/*/*.[ch] sparse/*.[ch] spmv/*.[ch] tests/*.[ch] tests/mpi/*.[ch] tests/petsc/*.c tests/programs/*.[ch] tests/programs/*.cpp tests/fuzz/*.[ch] tests/faults/*.[ch] tests/driver/*.[ch] bench/*.c bench/experiments/*.c bench/peers/*.[ch])
format:
	clang-format -i $(SOURCES)
lint:
	@SOURCES="$(SOURCES)" FLAGS="-std=c11 -D_GNU_SOURCE -I. -Iinclude $(parts) -DKCL_T=d -DKCL_T_d $(MPI_CFLAGS)" sh .ci/lint.sh
info:
	@echo 'compiler: $(CC) $(ALL_CFLAGS)'; echo 'libraries: $(LIBS)'; $(say_missing)
clean:
	rm -rf $(BUILD) demo
help:
	@sed -n '1,4s/^# //p' Makefile
	@echo 'make            $(LIB), $(SONAME), krylocl and heatsink-picture in $(BUILD)/'
	@echo 'make demo       installs packages, builds, solves and draws a heat sink in demo/; MINIMAL=1: a compiler and cJSON alone'
	@echo 'make check      installs packages, builds, runs all tests; fewer: ONLY=conform_spmv FORMATS=ell TYPES=d,'
	@echo '                ONLY=conform_solver SOLVERS=cg,idr'
	@echo 'make check-sanitizers   all tests and fuzz targets, address and undefined behaviour (clang)'
	@echo 'make check-matrices     tests on all matrices of the folder KRYLOCL_MATRICES (../shared/matrices)'
	@echo 'make methods            every method on all of them (the table of docs/methods.md)'
	@echo 'make dist               krylocl-$(VERSION).tar.gz, the tree of the last commit'
	@echo 'make install uninstall  PREFIX=$(PREFIX) DESTDIR= ; ARCH=portable: for other machines; GPL=no: without GPL parts'
	@echo 'make fuzz SECONDS=60    fuzzes each reader and the command line so long (clang)'
	@echo 'make petsc              the plug-in libpetsckrylocl.so (docs/petsc.md), where PETSc is found; PETSC_DIR, PETSC_ARCH'
	@echo 'make bench-read peers   times the file reader against fscanf; CG against other libraries'
	@echo 'make results            docs/results.md and $(BUILD)/results/report.html from the JSON files in bench/results'
	@echo 'make docs               the documentation as a site in $(BUILD)/site/html (python3-venv, doxygen, pip)'
	@echo 'make gallery            docs/gallery.md: pictures of the storage formats'
	@echo 'make experiments        the experiments of docs/experiments.md; EXPERIMENTS=--quick: small systems'
	@echo 'make format lint        formats; checks format, static analysis, public comments, dependences'
	@echo 'make info clean         prints compiler and libraries; removes $(BUILD)/ and demo/'
.PHONY: all shared $(LEVELS) always demo check check-sanitizers check-matrices methods tests fuzz fuzz-programs petsc bench-read peers atomics experiments docs gallery results install uninstall format lint info clean help
