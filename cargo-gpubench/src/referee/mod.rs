//! The referee process: masters of the inputs, expected outputs, poison, decoys, flush, its own clock and the checks. It never sees user code.
