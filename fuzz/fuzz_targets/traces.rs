#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| gpubench_fuzz::traces::run(data));
