# Commands for people. `just` lists them; CI runs `.ci/run`.

[private]
default:
    @just --list --unsorted

# Run all tests, or those that a filter selects: `just test -p gpubench-stats`
test *args:
    cargo nextest run {{ args }}

# Run unit tests only
unit *args:
    cargo nextest run --profile unit {{ args }}

# Run end-to-end tests only
e2e *args:
    cargo nextest run --profile e2e {{ args }}

# Run the tests that need an NVIDIA GPU
gpu *args:
    cargo nextest run --profile gpu --run-ignored only {{ args }}

# Run the tests in documentation, which nextest does not run
doctest *args:
    cargo test --workspace --doc {{ args }}

# Check format, clippy and rustdoc as CI does
lint:
    .ci/run fmt clippy doc

# Format the sources
fmt:
    cargo fmt --all

# Look at changed snapshots, one after the other
review:
    cargo insta review

# Build and open the API documentation
docs:
    cargo doc --workspace --no-deps --open

# Build and open the book
book:
    mdbook build docs --open

# Run the example suite on the CPU device
suite *args:
    cargo run --release --package cargo-gpubench -- gpubench --package gpubench-problems --device cpu {{ args }}

# Run the benchmarks of the tool itself
bench *args:
    cargo bench --workspace {{ args }}

# Check licences, versions and vulnerabilities of dependencies
deny:
    .ci/run deny advisories

# Run what CI runs, or some of its steps: `just ci fmt clippy`
ci *steps:
    .ci/run {{ steps }}
