# Entry points; the work is done by the scripts, each of which can be run by hand.
.DEFAULT_GOAL := help
.PHONY: help setup build demo wheels try-wheels web docs docs-serve check test msrv test-rust test-cross test-web test-docs test-burn test-python sanitize fuzz lint bench bench-peers bench-burn compare comparison clean

help:         ## this list
	@sed -nE 's/^([a-z-]+): *[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup:        ## .venv with the pinned tools and test partners
	@scripts/setup.sh

build: setup  ## flex, optimised, into .venv
	@scripts/build.sh

demo:         ## embed the sentences of examples/ with a real model and answer queries
	@scripts/demo.sh

wheels:       ## wheels for Linux, x86-64 and AArch64, glibc 2.17 and musl, in dist/; ARGS=aarch64-unknown-linux-musl for one of them
	@scripts/wheels.sh $(ARGS)

try-wheels:   ## dist/'s wheels run with the libraries of an old Debian, on this CPU and emulated; ARGS as for wheels
	@scripts/try-wheels.sh $(ARGS)

web: setup    ## a page that reads digits as you draw them, by flex as WebAssembly; PORT=8000
	@scripts/build-web.sh
	@.venv/bin/python -m http.server --bind 127.0.0.1 --directory target/web $(or $(PORT),8000)

docs: setup   ## the documentation site, in site/
	@scripts/build-docs.sh

docs-serve: docs  ## the same, served on this machine; PORT=8000
	@.venv/bin/python -m http.server --bind 127.0.0.1 --directory site $(or $(PORT),8000)

check: setup  ## the fast half of `make test`: lints, and the tests on this machine's best instruction set
	@scripts/check.sh

test: setup   ## everything that must hold: lint, msrv, and all test-... below
	@scripts/test.sh

lint: setup   ## formatting, clippy, rustdoc, ruff, the structure of the source, licences of dependencies
	@scripts/lint.sh

msrv:         ## whether the crate compiles with the oldest Rust it promises, where that is installed
	@scripts/check-msrv.sh

test-rust:    ## Rust tests: each instruction set, each feature combination
	@scripts/test-rust.sh

test-cross: setup  ## tests on emulated CPUs and Cortex-M boards and as WebAssembly; ARGS='thumbv7m-none-eabi' for one of them
	@scripts/test-cross.sh $(ARGS)

test-web: setup  ## the page of examples/web, under wasmtime and in a browser
	@scripts/test-web.sh

test-docs: setup  ## the documentation site, built and opened in a browser
	@scripts/test-docs.sh

test-burn:    ## the Burn backend: its tests, and those of Burn's packages on it; ARGS='burn-nn burn-linalg' for these packages
	@scripts/test-burn.sh $(ARGS)

test-python: build  ## Python tests on each instruction set, the stubs, the wheel
	@scripts/test-python.sh

sanitize: setup  ## the tests under AddressSanitizer, Miri and ThreadSanitizer; ARGS='address' for one of them
	@scripts/sanitize.sh $(ARGS)

fuzz: build   ## random programs against NumPy, ONNX graphs against onnxruntime, damaged files, for SECONDS=60
	@scripts/fuzz.sh $(SECONDS)

bench:        ## Rust benchmarks, one file a family
	cargo bench

bench-peers:  ## matrix products and sorts of other crates beside flex; ARGS=products or sorts for one of them
	cargo run --release --manifest-path benches/peers-rust/Cargo.toml -- $(ARGS)

bench-burn:   ## flex-burn beside burn-flex and burn-ndarray: COMPARISON-BURN.md, measured anew; ARGS=matmul prints a part of the rows
	@scripts/bench-burn.sh $(ARGS)

compare: build  ## flex against the Python libraries that are installed in .venv
	@.venv/bin/python benches/compare.py $(ARGS)

comparison: build  ## COMPARISON.md and its picture, measured anew: three quarters of an hour
	@.venv/bin/python benches/compare.py --isa native --isa avx2 --roofline --facts --markdown COMPARISON.md --chart benches/speed.svg $(ARGS)
	@.venv/bin/python benches/sweep.py --chart benches/sizes.svg

clean:        ## everything that was built, .venv too
	cargo clean
	rm -rf .venv dist site .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find python tests examples benches -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/flex/*.so
