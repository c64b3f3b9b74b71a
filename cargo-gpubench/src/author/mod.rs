//! The author process: the only one that runs user host code. It lists benchmarks, records plans, generates CPU inputs and computes CPU references.
