# The short commands. CMake does the work: see CMakeLists.txt and CMakePresets.json.
#
#   make            build/taut, the program, and the library
#   make demo       set up, build, check and run the stiff double pendulum, draw it
#   make test       set up, build, run all tests (at most four minutes on two cores)
#   make test-all   the long versions too, and five minutes of fuzzing
#   make docs       the documentation as a site with search, build/docs/index.html; DOCS=folder
#   make pictures   draw the pictures of the documentation again
#   make mpi        build-mpi/taut, for runs over several processes (mpiexec);  make test-mpi  tests them
#   make python     build-python/dist/taut-*.whl, the Python package, and its tests;  make python-bench  measures it
#   make bench      measurements: limit, value, verdict
#   make format     format the sources;  make format-check  only looks
#   make install    PREFIX=/usr/local, DESTDIR=; the Python module too where Python and cffi are, PYTHON= (empty): without it
#   make clean
BUILD ?= build
BUILD_MPI ?= build-mpi
DOCS ?= $(BUILD)/docs
JOBS ?= 2
PREFIX ?= /usr/local
CMAKE ?= cmake
CMAKE_FLAGS ?=
MAKEFLAGS += --no-print-directory

.PHONY: mpi test-mpi all setup configure demo docs pictures test test-all fuzz python python-bench bench format format-check install clean

all: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

setup:
	@tools/setup

# The first configuration prints only the features that were found; CMake repeats it when its files change.
configure:
	@test -f $(BUILD)/Makefile || $(CMAKE) -S . -B $(BUILD) -G "Unix Makefiles" $(CMAKE_FLAGS)

demo: setup
	@$(MAKE) all
	@tools/demo $(BUILD)

docs:
	@tools/setup tools/packages-docs.txt
	@$(MAKE) all
	@tools/site --build $(BUILD) --out $(DOCS)

pictures: all
	@tools/pictures $(BUILD)

test: setup
	@$(MAKE) all
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target tests
	@tests/run $(BUILD)

# The fuzzer goes first, so that the counts are the last line.
test-all: setup
	@$(MAKE) all
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target tests
	@tools/fuzz 300
	@TAUT_TEST_LONG=1 TAUT_TEST_LIMIT=7200 tests/run $(BUILD)

mpi:
	@tools/setup tools/packages-mpi.txt
	@$(MAKE) all BUILD=$(BUILD_MPI) CMAKE_FLAGS="$(CMAKE_FLAGS) -DTAUT_MPI=ON"

test-mpi: mpi
	@TAUT_TEST_LIMIT=600 tests/run $(BUILD_MPI) test_ranks.sh

fuzz:
	@tools/fuzz 60

python:
	@tools/python test

python-bench:
	@tools/python bench

bench: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target bench
	@tools/bench $(BUILD)

format:
	@tools/format

format-check:
	@tools/format --check

install: all
	@$(CMAKE) --install $(BUILD) --prefix $(PREFIX)
	@PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) tools/python install

clean:
	rm -rf build build-mpi build-debug build-asan build-core build-fuzz build-gcc build-clang build-ci build-python
