//! What a worker may touch, and what becomes of processes when their parent goes.
