//! The worker process: fresh for every case, it replays a launch plan on its own mapping of the buffers.
