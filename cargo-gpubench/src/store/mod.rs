//! What is kept on disk between runs: the cache of compiled kernels.
