//! One measured window: its kinds, its schedule and the sequence that the broker leads the roles through.
