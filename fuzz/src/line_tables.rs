//! Libraries of kernels with debug information.

use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_device::cpu::executor::line_at;

/// Reads the line of a place in a library. The first bytes are the place, the others the library.
pub fn run(data: &[u8]) {
    if let Some((offset, library)) = data.split_first_chunk() {
        let _ = line_at(library, u64::from_le_bytes(*offset));
    }
}

/// Returns the library of a kernel with places of two kinds: of the kernel, and of a function that
/// it calls.
pub fn seeds() -> Vec<Vec<u8>> {
    let library = library();
    let lines = || {
        let offsets = (0..library.len() as u64).step_by(8);
        offsets.filter_map(|offset| Some((offset, line_at(&library, offset)?)))
    };
    let seed = |is_called: bool| {
        let place = lines().find(|(_, line)| line.contains("called from") == is_called);
        let (offset, _) = place.expect("places have lines in a library that no change has reached");
        [&offset.to_le_bytes()[..], &library].concat()
    };
    [true, false].map(seed).to_vec()
}

fn library() -> Vec<u8> {
    let source = Source {
        name: "kernels.cu".to_owned(),
        form: SourceForm::Cuda,
        files: vec![SourceFile {
            path: "src/kernels.cu".to_owned(),
            contents: SOURCE.into(),
        }],
        options: Vec::new(),
    };
    let cache = tempfile::tempdir().expect("a folder");
    let compiler = HostCompiler::find().expect("a C++ compiler");
    let library = compiler.compile(Wanted {
        source: &source,
        names: &["scale".to_owned()],
        cache: cache.path(),
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    std::fs::read(library.expect("it compiles")).expect("the library is there")
}

const SOURCE: &str = "
__device__ float scaled(const float *x, float factor) {
  return factor * *x;
}
__global__ void scale(const float *x, float *y, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scaled(x + i, factor);
}
";
