//! Benchmarks that call libraries of their own, through the table.

use gpubench::abi::Status;
use gpubench::catalog::{DType, Execution};
use gpubench::plan::{LibraryArgument, LibraryCall, Plan};

use crate::client::{Memory, catalog, params, record};

mod cases {
    use gpubench::prelude::*;

    #[problem(
        axes(n = [8]),
        tensors = Tensors::new().input("x", f32::shape([2, n]), Uniform(0.0..1.0)).scratch("spare", u8::shape(3)).output("y", f32::shape(n)),
        tolerance(rtol = 1e-6),
    )]
    fn sums(n: usize, x: &[f32], y: &mut [f32]) {
        for i in 0..n {
            y[i] = x[i] + x[n + i];
        }
    }

    #[gpubench(hosted(library = "libs/libsums.so"), problem = sums)]
    fn of_every_kind(library: &mut Library, n: usize, x: In<f32>, spare: Scratch<u8>, y: Out<f32>) -> Result<()> {
        library.call("sum_up", (x.range(n..), spare, y, n, -1i8, 0.5f32, 0.25, true, Null))
    }

    #[gpubench(hosted(sync, library = concat!("/libs", "/libsums.so")), problem = sums)]
    fn may_wait(library: &mut Library, y: Out<f32>) -> Result<()> {
        library.call("sum_up", (y,))
    }

    #[gpubench(hosted(library = "a.so"), problem = sums)]
    fn declares_nothing(_library: &mut Library) -> Result<()> {
        Ok(())
    }

    #[gpubench(hosted(library = "a.so"), problem = sums)]
    fn ignores_the_second_error(library: &mut Library, y: Out<f32>) -> Result<()> {
        library.call("one", (y,))?;
        let _ = library.call("two", (y,));
        Ok(())
    }

    #[gpubench(hosted(library = "a.so"), problem = sums)]
    fn passes_a_half(library: &mut Library, y: Out<f32>) -> Result<()> {
        library.call("one", (y, F16::from_f32(1.0)))
    }

    #[gpubench(hosted(library = "a.so"), problem = sums)]
    fn passes_an_array(library: &mut Library, y: Out<f32>) -> Result<()> {
        library.call("one", (y, [1.0f32]))
    }

    #[gpubench(hosted(library = "a.so"), problem = sums)]
    fn leaves_a_buffer(library: &mut Library, y: Out<f32>) -> Result<()> {
        library.call("one", (y.range(3..9),))
    }
}

#[test]
fn a_call_is_recorded_with_its_arguments() {
    let recording = record("own_library::cases::of_every_kind", params([("n", 8)])).unwrap();
    assert_eq!(
        (recording.execution, recording.plan),
        (Execution::Hosted, Plan::default())
    );
    let buffer = |tensor, start, elements| LibraryArgument::Buffer {
        tensor,
        start,
        elements,
    };
    let number = |dtype, bits| LibraryArgument::Number { dtype, bits };
    let LibraryCall {
        function,
        arguments,
        place,
    } = *recording.call.unwrap();
    assert_eq!(function, "sum_up");
    assert!(place.contains("own_library.rs:"), "{place}");
    let expected = [
        buffer(0, 8, 8),
        buffer(1, 0, 3),
        buffer(2, 0, 8),
        number(DType::U64, 8),
        number(DType::I8, 255),
        number(DType::F32, u64::from(0.5f32.to_bits())),
        number(DType::F64, 0.25f64.to_bits()),
        number(DType::U8, 1),
        LibraryArgument::Null,
    ];
    assert_eq!(arguments, expected);
}

#[test]
fn the_catalog_names_the_library() {
    let own_library = |path: &str| {
        let found = catalog()
            .benchmarks
            .into_iter()
            .find(|benchmark| benchmark.path == path);
        found.unwrap().own_library
    };
    assert_eq!(
        own_library("own_library::cases::of_every_kind").as_deref(),
        Some("libs/libsums.so")
    );
    assert_eq!(
        own_library("own_library::cases::may_wait").as_deref(),
        Some("/libs/libsums.so")
    );
    assert_eq!(own_library("hosted::cases::counts_on"), None);
    let recording = record("own_library::cases::may_wait", params([("n", 8)])).unwrap();
    assert_eq!(recording.execution, Execution::HostedSync);
}

#[test]
fn a_call_that_cannot_be_made_is_an_error_at_its_line() {
    for (benchmark, words) in [
        (
            "declares_nothing",
            "declares nothing to measure (hint: name the function with `Library::call`)",
        ),
        (
            "ignores_the_second_error",
            "call of `two`: a benchmark declares exactly one call",
        ),
        (
            "passes_a_half",
            "call of `one`: argument 2: `F16` cannot be passed to a library",
        ),
        (
            "passes_an_array",
            "call of `one`: argument 2: `[f32; 1]` cannot be passed to a library",
        ),
        (
            "leaves_a_buffer",
            "call of `one`: argument 1: elements 3..9 are outside",
        ),
    ] {
        let (status, message) = record(&format!("own_library::cases::{benchmark}"), params([("n", 8)])).unwrap_err();
        assert_eq!(status, Status::Failed, "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn the_crates_library_has_no_host_code_of_such_a_benchmark() {
    let mut memory = Memory::new("own_library::cases::may_wait", params([("n", 8)]));
    let (_, message) = memory.host_open().unwrap_err();
    assert_eq!(
        message,
        "`own_library::cases::may_wait` has no host code in this library"
    );
}
