#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpubench_fuzz::cuda_source::run(data));
