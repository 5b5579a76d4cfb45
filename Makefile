# Everything that a user, a developer or CI does here. `make help` lists it.
# Needed on the machine: make and Python 3.11 or newer with its venv module; all else is
# installed into .venv, from the package index that pip is configured for.

VENV         := .venv
BIN          := $(VENV)/bin
EXTRAS       := compression arrow spark backup serve dev
LOCK         := requirements-dev.lock
SITE_VENV    ?= .venv-site
SITE_LOCK    := docs/site/requirements.lock
DEMO          = build/demo
SEEDS        ?= 0..10000
ROUNDS       ?= 200
KAFKA        ?= 4.3.0
# A worker takes whole files, in the order of tests/conftest.py: long ones first. One worker takes all
# files that share Spark (tests/support/spark_sharing.py). Two more workers than there are cores, since many
# tests wait for a Kafka to start or to elect a leader.
CORES        := getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)
WORKERS      ?= $(shell $(PYTHON) -c 'import os; print(len($(CORES)) + 2)')
PURE_TESTS   := $(addprefix tests/,commands/test_damaged.py commands/test_dump_log.py commands/test_secrets.py \
                  reports/test_verify_log.py reports/test_directory.py reports/test_state_load.py)
SECONDS      ?= 5
PYTEST_ARGS  ?= -n $(WORKERS) --dist loadfile --no-loadscope-reorder
TESTS         = $(BIN)/python -m pytest $(PYTEST_ARGS) -p tools.test_minutes
KRAFTOOL     := $(BIN)/kraftool
PIP_INSTALL  := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Bytecode, as pip makes it for a wheel: some machines have Python write none, which doubles a start.
COMPILED     := $(BIN)/python -m compileall -q kraftool decoders commands tui
# What builds packages has an environment of its own, with a Python that names no folder of this machine.
PACKAGING    := .venv-packages
# The native module is built where there is a cargo, and again when its sources change.
CRATES       := decoders/native
# Packages are built from copies of the sources. What the crates depend on is compiled once for all.
export CARGO_TARGET_DIR := $(CURDIR)/$(CRATES)/target
NATIVE       := setup.py $(filter-out $(CRATES)/fuzz/%,$(wildcard $(addprefix $(CRATES)/,Cargo.* */Cargo.toml */build.rs */src/*.rs)))

# The first of these that runs and is new enough. `make PYTHON=/path/to/python3.12` overrides it.
NEW_ENOUGH   := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
CANDIDATES   := python3 python3.14 python3.13 python3.12 python3.11 python
PYTHON       ?= $(shell for p in $(CANDIDATES); do \
                  $$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo $$p; break; }; done)

# Every target with a help text makes no file of its name.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))
.DELETE_ON_ERROR:

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.installed  ## set up, unpack a quorum of real Kafka into build/demo, and check it
	@rm -rf $(DEMO)
	@$(KRAFTOOL) demo $(DEMO)
	@echo
	@echo '$$ kraftool doctor $(DEMO)'
	@$(KRAFTOOL) doctor $(DEMO)
	@echo
	@echo 'Your own: $(KRAFTOOL) doctor /path/to/metadata.log.dir   (or a server.properties, a single file, a tar)'

# One run of all targets, which share the workers: a target that waits for Kafka leaves the cores
# to the others. Each prints its minutes and what it proved.
test: $(VENV)/.installed-dev  ## all four targets below; a skipped test says what it needs
	@$(TESTS)

# One worker more than there are cores: few of its tests wait, and each worker has to collect them all.
test-unit: WORKERS = $(shell $(PYTHON) -c 'import os; print(len($(CORES)) + 1)')
test-unit: $(VENV)/.installed-dev  ## formats, judgement, core and views agree with what is known of them, in under two minutes
	@$(TESTS) -m 'not (interop or spark or slow)'

test-cases: $(VENV)/.installed-dev  ## the same for each damage, seed, incident and screen: no JVM, no Spark
	@$(TESTS) -m 'slow and not (interop or spark)'

test-kafka: $(VENV)/.installed-dev  ## real Kafka reads what kraftool writes and does what kraftool says
	@$(TESTS) -m 'interop and not spark'

test-spark: $(VENV)/.installed-dev  ## the Spark sources and pipelines give the rows that the files have, real clusters included
	@$(TESTS) -m spark

quick: test-unit  ## another name of test-unit

record: $(VENV)/.installed-dev  ## ask a release again what is recorded of it, and print what differs (KAFKA=4.4.0)
	@$(BIN)/python tests/interop/record.py --kafka $(KAFKA)

test-minutes: $(VENV)/.installed-dev  ## the tests, and then what they cost: minutes of CPU for each directory
	@$(TESTS) --junitxml=$(VENV)/junit.xml; code=$$?; \
	  $(BIN)/python tools/test_minutes.py $(VENV)/junit.xml; exit $$code

test-count: $(VENV)/.installed-dev  ## the number of tests
	@$(BIN)/python -m pytest --collect-only -q | tail -1

picture: $(VENV)/.installed-dev  ## draw the dashboard's pictures in docs/ again, with the real dashboard
	@$(BIN)/python -m tools.pictures

check: fresh lint crates  ## what CI checks in addition to the tests

same-answers: $(VENV)/.installed-dev  ## ask this tree and another revision the same, and print what differs (BASE=REV)
	$(BIN)/python tools/same_answers.py $(BASE)

size: $(VENV)/.installed-dev  ## what each command imports until it is done, and the lines of each room
	@$(BIN)/python tools/size.py

crates:  ## the tests of the native module's core, and a few seconds of fuzzing (SECONDS=60)
	@if command -v cargo >/dev/null 2>&1; then \
	  KRAFTOOL_FUZZ_SECONDS=$(SECONDS) cargo test --quiet --locked --manifest-path $(CRATES)/Cargo.toml --package kraftool-core; \
	elif [ "$$KRAFTOOL_STRICT" = 1 ]; then \
	  echo 'The native module needs Rust: https://rustup.rs' >&2; exit 1; \
	else \
	  echo 'The native module is not tested: Rust is not installed'; \
	fi

# Rust's stable compiler marks branches and comparisons for libFuzzer, which is C++.
COVERED      := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-trace-compares
FUZZED       := build/fuzz/core

fuzz-core: $(VENV)/.installed-dev  ## fuzz the native module's core, guided by coverage (SECONDS=60)
	@for tool in cargo c++; do command -v $$tool >/dev/null 2>&1 || { \
	  echo "Fuzzing by coverage needs $$tool: Rust (https://rustup.rs) and a C++ compiler" >&2; exit 1; }; done
	@mkdir -p $(FUZZED)
	@$(BIN)/python tests/fuzz/core_seeds.py build/fuzz/core-seeds
	@host=$$(rustc -vV | sed -n 's/^host: //p') && \
	RUSTFLAGS='$(COVERED)' cargo build --quiet --release --locked --target $$host --manifest-path $(CRATES)/fuzz/Cargo.toml && \
	$(CARGO_TARGET_DIR)/$$host/release/log $(FUZZED) build/fuzz/core-seeds -max_total_time=$(SECONDS) \
	  -timeout=20 -max_len=16384 -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix=build/fuzz/

pure: $(VENV)/.installed-dev  ## the tests of commands and damage with everything read in Python
	@KRAFTOOL_PURE=1 $(BIN)/python -m pytest $(PYTEST_ARGS) -q $(PURE_TESTS)

lint: $(VENV)/.installed-dev  ## style, types, and who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tools
	@$(BIN)/mypy tests
	@$(BIN)/lint-imports --no-cache

fresh: $(VENV)/.installed-dev  ## generated files are what their generators write
	@$(BIN)/python tools/manpages.py --check
	@$(BIN)/python -m tools.completion --check
	@$(BIN)/python -m tools.schemas --check
	@$(BIN)/python tools/native_id.py --check
	@$(BIN)/python tools/damage.py --check
	@$(BIN)/python tools/demo.py --check
	@$(BIN)/python tools/monitoring.py --check
	@if command -v java >/dev/null 2>&1 && command -v mvn >/dev/null 2>&1; then \
	  $(BIN)/python tools/catalogue.py --check && $(BIN)/python tools/config_names.py --check && \
	  $(BIN)/python tools/resource_configs.py --check; \
	elif [ "$$KRAFTOOL_STRICT" = 1 ]; then \
	  echo 'The catalogue is checked against the jars of Kafka: apt-get install openjdk-17-jdk-headless maven' >&2; exit 1; \
	else \
	  echo 'The catalogue is not checked without a JDK and Maven: apt-get install openjdk-17-jdk-headless maven'; \
	fi

format: $(VENV)/.installed-dev  ## let ruff fix what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

catalogue: $(VENV)/.installed-dev  ## read messages and config names of Kafka again (VERSION=4.5.0: a new release)
	$(BIN)/python tools/catalogue.py $(if $(VERSION),--version $(VERSION))
	$(BIN)/python tools/config_names.py
	$(BIN)/python tools/resource_configs.py

man: $(VENV)/.installed-dev  ## write the man pages and what completion offers from the commands' help
	@$(BIN)/python tools/manpages.py
	@$(BIN)/python -m tools.completion

schemas: $(VENV)/.installed-dev  ## write docs/schemas from the classes of the documents
	@$(BIN)/python -m tools.schemas

soak: $(VENV)/.installed-dev  ## the long tests: fuzzing and property tests for several hours
	KRAFTOOL_SOAK=1 KRAFTOOL_HYPOTHESIS=soak $(BIN)/python -m pytest $(PYTEST_ARGS)
	$(BIN)/python tests/fuzz/fuzz_decoders.py --seconds 300
	$(BIN)/python tests/fuzz/native_checks.py --cases 1000000 --seed new
	$(BIN)/python tests/fuzz/compact_checks.py --cases 200000 --seed new
	$(BIN)/python tests/fuzz/timeline_checks.py --cases 50000 --seed new
	$(BIN)/python tests/fuzz/column_checks.py --cases 20000 --seed new
	$(BIN)/python -m tests.fuzz.remote_checks --cases 20000 --seed new
	$(MAKE) --no-print-directory crates SECONDS=600
	$(MAKE) --no-print-directory fuzz-core SECONDS=3600
	$(BIN)/python tests/fuzz/fuzz_node.py --seconds 180
	$(BIN)/python -m tests.differential.fuzz --seeds new --seconds 2400
	$(BIN)/python -m tests.differential.fuzz --seeds new --seconds 1200 --kafka 4.4.0
	$(BIN)/python -m tests.differential.controller.fuzz_controller --seeds new --seconds 900
	$(BIN)/python -m tests.differential.controller.fuzz_controller --seeds new --seconds 600 --kafka 4.4.0

chaos: $(VENV)/.installed-dev  ## 200 rounds of faults on quorums of real Kafkas and of ours, with clients at work (ROUNDS=100)
	KRAFTOOL_SOAK=1 KRAFTOOL_CHAOS_ROUNDS=$(ROUNDS) KRAFTOOL_WITNESS_ROUNDS=20 $(BIN)/python -m pytest -q -s \
		tests/interop/test_node_chaos.py tests/interop/test_node_witness.py tests/interop/test_controller_chaos.py

sim: $(VENV)/.installed-dev  ## quorums in virtual time: 10,000 seeds with all faults (SEEDS=4711)
	$(BIN)/python tools/simulate.py --seeds $(SEEDS)

differential: $(VENV)/.installed-dev  ## the raft core and Kafka's own client get the same messages (SEEDS=4711, KAFKA=4.4.0)
	$(BIN)/python -m tests.differential.fuzz --seeds $(SEEDS) --kafka $(KAFKA)

controller-differential: $(VENV)/.installed-dev  ## the controller and Kafka's own get the same requests (SEEDS=4711, KAFKA=4.4.0)
	$(BIN)/python -m tests.differential.controller.fuzz_controller --seeds $(SEEDS) --kafka $(KAFKA)

foreign: $(VENV)/.installed-dev  ## the tests of other clients on three of Kafka's controllers, and on three of ours (SUITES=kgo)
	$(BIN)/python -m tests.foreign --kafka $(KAFKA) $(SUITES)

mutants: $(VENV)/.installed-dev  ## break the product in known ways, and see that a test notices each
	$(BIN)/python tools/mutants.py

bench-node: $(VENV)/.installed-dev  ## a node and Kafka's: failover, throughput, idle CPU, memory
	$(BIN)/python tests/bench/node.py

bench-controller: $(VENV)/.installed-dev  ## an active controller and Kafka's: new partitions, heartbeats, a failover
	$(BIN)/python tests/bench/controller.py

bench-watch: $(VENV)/.installed-dev  ## the dashboard with 105 nodes: CPU, first picture, keys, memory
	$(BIN)/python tests/bench/watch.py

bench-exporter: $(VENV)/.installed-dev  ## the exporter on 5 clusters of 3 + 3 nodes: memory over time, CPU
	$(BIN)/python tests/bench/exporter.py

bench-memory: $(VENV)/.installed-dev  ## one process over 750 damaged files: memory after each 150, and the peak
	$(BIN)/python tests/bench/memory.py

bench-sim: $(VENV)/.installed-dev  ## events of the core a second with all checkers, and elections
	$(BIN)/python tests/bench/sim.py

bench-elections: $(VENV)/.installed-dev  ## start real quorums 200 times, and compare who leads with simulate-election
	$(BIN)/python tests/bench/elections.py measure
	$(BIN)/python tests/bench/elections.py table

bench-inspect: $(VENV)/.installed-dev  ## replay, the shell and kafka-metadata-shell, verify-log
	$(BIN)/python tests/bench/inspect_state.py --write

bench-start: $(VENV)/.installed-dev  ## CPU of the start of each command, with bytecode and without
	$(BIN)/python tests/bench/start.py --write

bench-passes: $(VENV)/.installed-dev  ## passes over a log, compared with another checkout (OTHER=/path)
	$(BIN)/python tests/bench/passes.py $(OTHER)

bench-changes: $(VENV)/.installed-dev  ## an append for many fetches, a commit to a large image
	$(BIN)/python tests/bench/changes.py

bench-spark: $(VENV)/.installed-dev  ## tables on one core and two, and dump-log, memory, skew, audit
	$(BIN)/python tests/bench/pipeline.py

bench-native: $(VENV)/.installed-dev  ## the native module by itself, and with kafka-dump-log; into tests/bench/RESULTS.md
	$(BIN)/python tests/bench/native.py --write

bench-dump: $(VENV)/.installed-dev  ## dump-log and kafka-dump-log side by side, and the ratio
	$(BIN)/python tests/bench/dump.py --write

monitoring: $(VENV)/.installed-dev  ## write alert rules and the dashboard, and check them with promtool and kubeconform
	@$(BIN)/python tools/monitoring.py
	@sh tools/check_monitoring.sh $(VENV)/monitoring $(BIN)/python

site: $(SITE_VENV)/.installed  ## build the site into build/site, and check its links; only the set-up needs a network
	@PYTHONPATH=. $(SITE_VENV)/bin/python tools/build_site.py build/site

$(SITE_VENV)/.installed: $(SITE_LOCK)
	@echo 'Installing Sphinx and what kraftool needs into $(SITE_VENV) (once; a minute)'
	@$(PYTHON) -m venv --clear $(SITE_VENV)
	@$(SITE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $(SITE_LOCK)
	@touch $@

hooks: $(VENV)/.installed-dev  ## let git run ruff before each commit, and make lint before each push
	@$(BIN)/pre-commit install

UV_COMPILE   := UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/uv pip compile --quiet --upgrade --universal \
  --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate

lock: $(VENV)/.made  ## write requirements-dev.lock: the newest versions that pyproject.toml allows
	@[ -x $(BIN)/uv ] || $(PIP_INSTALL) uv
	@$(UV_COMPILE) $(EXTRAS:%=--extra %) pyproject.toml --output-file $(LOCK)
	@$(UV_COMPILE) --constraint $(LOCK) pyproject.toml docs/site/requirements.in --output-file $(SITE_LOCK)
	@$(UV_COMPILE) packaging/requirements.in --output-file packaging/requirements.txt
	@$(UV_COMPILE) --constraint $(LOCK) --extra compression --extra backup pyproject.toml --output-file packaging/runtime.txt
	@git --no-pager diff --stat -- $(LOCK) $(SITE_LOCK) packaging

newest:  ## make check and quick with the newest versions instead of the locked ones, in .venv-newest
	@rm -f .venv-newest/.installed-dev
	@$(MAKE) --no-print-directory VENV=.venv-newest LOCK= check quick

native: $(VENV)/.installed-dev  ## build the native module again, and write the id of its sources
	@cargo fmt --manifest-path $(CRATES)/Cargo.toml --all
	@$(BIN)/python tools/native_id.py
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@$(KRAFTOOL) --version

wheel: $(VENV)/.installed-dev $(PACKAGING)/.installed  ## sdist and wheels into dist/, tried in empty environments
	@rm -rf dist build
	@packaging/wheels.sh
	@touch dist/.complete
	@$(BIN)/python tools/try_wheels.py dist

# Needs root and Debian: mmdebstrap makes the image, and the empty hosts where everything is tried.
packages: wheel $(PACKAGING)/.tools monitoring  ## all that a release has into dist/, checked, built twice, and tried on hosts with nothing
	@packaging/check.sh
	@packaging/program.sh
	@packaging/image.sh
	@packaging/deb.sh
	@packaging/sbom.sh
	@packaging/audit.sh
	@packaging/again.sh wheels program image deb
	@packaging/publish.sh --dry-run
	@$(BIN)/python tools/try_packages.py dist

clean:  ## remove what make wrote
	rm -rf $(VENV) .venv-newest $(PACKAGING) build dist *.egg-info $(CRATES)/target decoders/_native.*.so .hypothesis .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf $(SITE_VENV)

# The stamps make both set-ups happen once, and again when pyproject.toml changes.
$(VENV)/.made:
	@[ -n '$(PYTHON)' ] || { \
	  echo 'kraftool needs Python 3.11 or newer with its venv module; found: '"$$(python3 --version 2>&1 || echo none)" >&2; \
	  echo 'Debian, Ubuntu: apt-get install python3 python3-venv.  Elsewhere: make PYTHON=/path/to/python3.12 …' >&2; \
	  exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' 2>/dev/null || { \
	  echo 'PYTHON=$(PYTHON) is older than 3.11, or has no venv module (apt-get install python3-venv).' >&2; \
	  exit 1; }
	@echo 'Making $(VENV) with '"$$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml $(NATIVE) | $(VENV)/.made
	@echo 'Installing kraftool and what it needs into $(VENV) (once; under a minute)'
	@$(PIP_INSTALL) --editable .
	@$(COMPILED)
	@touch $@

PACKAGES_PYTHON ?= $(shell for p in /usr/bin/python3 $(PYTHON); do \
                  $$p -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo $$p; break; }; done)
$(PACKAGING)/.installed: packaging/requirements.txt
	@echo 'Installing what builds packages into $(PACKAGING) (once; half a minute)'
	@$(PACKAGES_PYTHON) -m venv --clear $(PACKAGING)
	@$(PACKAGING)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement $<
	@touch $@

DEBIAN_TOOLS := mmdebstrap skopeo umoci lintian binutils iproute2 libpython3-dev shellcheck
$(PACKAGING)/.tools: | $(PACKAGING)/.installed
	@dpkg-query --show $(DEBIAN_TOOLS) >/dev/null 2>&1 || { \
	  echo 'Installing $(DEBIAN_TOOLS)'; \
	  apt-get update -qq && apt-get install -qq --no-install-recommends $(DEBIAN_TOOLS) >/dev/null; }
	@touch $@

# `make LOCK=` installs the newest versions. Python compiles what is imported when it is: pip would
# spend a third of the set-up on compiling all of it.
$(VENV)/.installed-dev: pyproject.toml $(LOCK) $(NATIVE) | $(VENV)/.made
	@echo 'Installing kraftool and the tools of its tests into $(VENV) (once; a minute or two)'
ifdef LOCK
	@$(PIP_INSTALL) --no-compile --require-hashes --requirement $(LOCK)
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
else
	@$(PIP_INSTALL) --upgrade --upgrade-strategy eager $(EXTRAS:%=--editable '.[%]')
endif
	@$(COMPILED)
	@touch $@ $(VENV)/.installed
