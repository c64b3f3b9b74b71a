//! Prints what the exported functions of a library are, to see whether a new driver's stubs are
//! recognised: `cargo run -p gpubench-bpf --example shapes -- libcuda.so.1`.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Instant;

use gpubench_bpf::elf::{Library, Shape};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("which library?")?;
    let start = Instant::now();
    let library = Library::read(path.as_ref(), |name| {
        name.starts_with("cu") && !name.starts_with("cudbg")
    })?;
    println!("read in {:?}", start.elapsed());
    let mut kinds: BTreeMap<(&str, bool, bool), Vec<&str>> = BTreeMap::new();
    for function in &library.functions {
        let shape = match function.shape {
            Shape::Jump => "stub that jumps",
            Shape::Call => "stub that calls",
            Shape::Plain => "no stub",
        };
        let key = (shape, function.site.is_emulated, function.failure.is_some());
        kinds.entry(key).or_default().push(&function.name);
    }
    for ((shape, is_emulated, failure), names) in kinds {
        let cost = if is_emulated { "emulated" } else { "stepped over" };
        let errors = if failure { "errors seen" } else { "errors not seen" };
        println!(
            "{:4} {shape}, {cost}, {errors}: {} …",
            names.len(),
            names[..names.len().min(4)].join(", ")
        );
    }
    Ok(())
}
