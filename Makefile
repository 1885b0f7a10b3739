# SPDX-License-Identifier: Apache-2.0
# What people type. Meson does the work.

help:
	@echo "make up       build, start a controller and an agent here, show the node table; CONTROLLERS=3: three of them"
	@echo "make down     stop them (their state stays in run/)"
	@echo "make check    build with sanitizers and run every test; SUITE=unit (or another, or several) runs a part"
	@echo "make coverage  which lines and branches the tests reach; SUITE=unit (or others) runs a part"
	@echo "make mutate   break conditions in IN=src/node (or others), and see whether a test notices; N=30, SEED=1, SIM=1"
	@echo "make measures  count sizes, circles, names and tests of the source (doc/measures.md)"
	@echo "make bench    measure; prints the figures of doc/performance.md"
	@echo "make soak     the long tests: seeds of the simulation, fuzzing, every fault of nodes that boot"
	@echo "make build    only build, into build/"
	@echo "make install  install what was built (PREFIX in DESTDIR as usual with meson)"
	@echo "make deb      Debian packages, into build-deb/"
	@echo "make rpm      RPM packages, into build-rpm/"
	@echo "make agent-tarball  the agent with no shared library, for other systems, into build-agent/"

build:
	@tools/install-packages build
	@test -f build/build.ninja || meson setup build --buildtype=debugoptimized >build.log 2>&1 || { cat build.log; exit 1; }
	@rm -f build.log
	@ninja -C build --quiet

up: build
	@test -z "$(CONTROLLERS)" || tools/install-packages etcd
	@CONTROLLERS=$(CONTROLLERS) tools/up

down:
	@tools/down

check:
	@tools/check $(foreach suite,$(SUITE),--suite $(suite))

coverage:
	@tools/coverage $(SUITE)

mutate:
	@tools/install-packages build check
	@tools/mutate $(if $(N),-n $(N)) $(if $(SEED),-s $(SEED)) $(if $(SIM),--sim) $(IN)

measures:
	@tools/measures

bench: build
	@tools/install-packages bench
	@tools/bench

soak: build
	@tools/soak

install: build
	@meson install -C build --no-rebuild

deb:
	@tools/deb

rpm:
	@tools/rpm

agent-tarball:
	@tools/agent-tarball

clean:
	rm -rf build build-check build-coverage build-mutate build-fuzz build-deb build-rpm build-agent

.PHONY: help build up down check coverage mutate measures bench soak install deb rpm agent-tarball clean
