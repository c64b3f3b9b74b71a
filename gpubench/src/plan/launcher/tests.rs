use super::*;
use crate::catalog::{DType, Fill, SourceForm, Tolerance};
use crate::element::F16;
use crate::plan::{Argument, Cooperation, Dependence};
use crate::source::CudaSource;

mod functions;

static SOURCE: CudaSource = CudaSource::embedded("image.cu", SourceForm::Cuda, &[], &[]);

const PLACE: &str = "src/lib.rs:3";

fn kernel() -> Kernel {
    SOURCE.kernel("blur")
}

fn tensor(name: &str, dtype: DType, len: u64, role: Role) -> Tensor {
    Tensor {
        name: name.into(),
        dtype,
        shape: vec![len],
        role,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    }
}

/// Returns a launcher for the benchmark `blur` with an input `x` and an output `y` of 100 floats.
fn launcher_on(facts: DeviceFacts) -> Launcher {
    let tensors = vec![
        tensor("x", DType::F32, 100, Role::Input),
        tensor("y", DType::F32, 100, Role::Output),
    ];
    let kernel = |kernel: &Kernel| {
        Ok(KernelRef {
            source: 7,
            name: kernel.name.clone(),
        })
    };
    Launcher::new("blur".to_owned(), tensors, facts, Vec::new(), kernel)
}

fn gpu() -> DeviceFacts {
    DeviceFacts {
        kind: DeviceKind::Cuda,
        name: "GPU".into(),
        multiprocessors: 132,
        capability: 90,
        warp_size: 32,
        max_threads_per_block: 1024,
        max_threads_per_multiprocessor: 2048,
        max_block: [1024, 1024, 64],
        max_grid: [2147483647, 65535, 65535],
        shared_per_block: 48 << 10,
        shared_per_block_optin: 227 << 10,
        l2_bytes: 50 << 20,
    }
}

/// Returns an error's message without the location that it must start with.
fn message_of<T: std::fmt::Debug>(returned: Result<T>) -> String {
    let message = returned.unwrap_err().to_string();
    let rest = message.strip_prefix(concat!(file!(), ":")).unwrap();
    let (line, what) = rest.split_once(": ").unwrap();
    assert!(line.parse::<u32>().is_ok(), "{message}");
    what.to_owned()
}

/// Returns the error message of a launch over `grid` without arguments.
fn rejection(facts: DeviceFacts, grid: Grid) -> String {
    message_of(launcher_on(facts).launch(kernel(), grid, ()))
}

fn buffers(launcher: &Launcher) -> (In<f32>, Out<f32>) {
    (
        launcher.buffer("x", PLACE).unwrap(),
        launcher.buffer("y", PLACE).unwrap(),
    )
}

fn only_launch(launcher: Launcher) -> Launch {
    match launcher.finish().unwrap().steps.remove(0) {
        Step::Launch(launch) => launch,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_launch_is_recorded_with_all_options_of_its_grid() {
    let mut launcher = launcher_on(gpu());
    let grid = Grid::new((8, 2u64), 256usize)
        .shared(1024)
        .cluster((4, 2))
        .cooperative()
        .programmatic();
    let line = line!() + 1;
    launcher.launch(kernel(), grid, ()).unwrap();
    let expected = Launch {
        kernel: KernelRef {
            source: 7,
            name: "blur".into(),
        },
        grid: [8, 2, 1],
        block: [256, 1, 1],
        cluster: [4, 2, 1],
        dynamic_shared: 1024,
        cooperation: Cooperation::Grid,
        dependence: Dependence::Programmatic,
        arguments: vec![],
        types: vec![],
        place: format!("{}:{line}", file!()),
    };
    assert_eq!(only_launch(launcher), expected);
}

#[test]
fn a_covering_grid_has_no_more_blocks_than_needed() {
    assert_eq!(Grid::covering(512, 256), Grid::new(2, 256));
    assert_eq!(Grid::covering(513, 256), Grid::new(3, 256));
    assert_eq!(
        Grid::covering((17, 16, 1), (16, 16, 1)),
        Grid::new((2, 1, 1), (16, 16, 1))
    );
    assert_eq!(Grid::covering(u64::MAX, 1), Grid::new(u64::MAX, 1));
}

#[test]
fn grids_and_blocks_that_the_device_does_not_support_are_rejected() {
    assert_eq!(
        rejection(gpu(), Grid::new(0, 256)),
        "`blur`: launch of `blur`: a grid of 0x1x1 has no blocks, and a GPU refuses to launch it (hint: launch nothing if there is nothing to do: `if n == 0 { return Ok(()); }`)"
    );
    assert_eq!(
        rejection(gpu(), Grid::covering(0, 256)),
        "`blur`: launch of `blur`: a grid of 0x1x1 has no blocks, and a GPU refuses to launch it (hint: launch nothing if there is nothing to do: `if n == 0 { return Ok(()); }`)"
    );
    assert_eq!(
        rejection(gpu(), Grid::covering(1000, 0)),
        "`blur`: launch of `blur`: a block of 0x1x1 has no threads"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(1, (32, 0))),
        "`blur`: launch of `blur`: a block of 32x0x1 has no threads"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(-1, 32)),
        "`blur`: launch of `blur`: a grid of -1x1x1 has no blocks, and a GPU refuses to launch it (hint: launch nothing if there is nothing to do: `if n == 0 { return Ok(()); }`)"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(1, (32, 33))),
        "`blur`: launch of `blur`: a block of 32x33x1 has 1056 threads, more than the device's limit of 1024"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(1, (1, 1, 65))),
        "`blur`: launch of `blur`: a block of 1x1x65 threads is larger than the device's limit of 1024x1024x64"
    );
    assert_eq!(
        rejection(gpu(), Grid::new((1, 65536), 1)),
        "`blur`: launch of `blur`: a grid of 1x65536x1 blocks is larger than the device's limit of 2147483647x65535x65535"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(1, 1).shared(1 << 20)),
        "`blur`: launch of `blur`: 1048576 bytes of shared memory for a block are more than the device's limit of 232448"
    );
}

#[test]
fn arguments_that_no_kernel_can_take_are_rejected() {
    use crate::KernelArg;

    #[derive(Clone, Copy, KernelArg)]
    #[repr(C)]
    struct Table {
        values: [f32; 8190],
    }

    let table = Table { values: [0.0; 8190] };
    assert!(
        launcher_on(gpu())
            .launch(kernel(), Grid::new(1, 1), (table, 1i32))
            .is_ok()
    );
    assert_eq!(
        message_of(launcher_on(gpu()).launch(kernel(), Grid::new(1, 1), (table, 1i32, 2u8))),
        "`blur`: launch of `blur`: the arguments have 32765 bytes, more than the 32764 that a kernel can take (hint: pass a \
         buffer)"
    );
}

#[test]
fn clusters_and_programmatic_launches_need_a_device_that_supports_them() {
    let older = || DeviceFacts {
        capability: 86,
        ..gpu()
    };
    assert_eq!(
        rejection(older(), Grid::new(4, 32).cluster(2)),
        "`blur`: launch of `blur`: `GPU` has no clusters: they need compute capability 9.0 (hint: add `requires(capability = 9.0)`)"
    );
    assert_eq!(
        rejection(older(), Grid::new(4, 32).programmatic()),
        "`blur`: launch of `blur`: `GPU` has no programmatic launches: they need compute capability 9.0 (hint: add `requires(capability = 9.0)`)"
    );
    let cpu = DeviceFacts { capability: 0, ..gpu() };
    launcher_on(cpu.clone())
        .launch(kernel(), Grid::new(4, 32).programmatic(), ())
        .unwrap();
    assert_eq!(
        rejection(cpu, Grid::new(4, 32).cooperative()),
        "`blur`: launch of `blur`: `GPU` has no cooperative launches (hint: add `requires(cuda)`)"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(5, 32).cluster(2)),
        "`blur`: launch of `blur`: a grid of 5x1x1 blocks does not divide into clusters of 2x1x1"
    );
    assert_eq!(
        rejection(gpu(), Grid::new(64, 32).cluster(32)),
        "`blur`: launch of `blur`: a cluster of 32x1x1 must have 1 to 16 blocks"
    );
}

#[test]
fn arguments_are_recorded_in_device_byte_order() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let arguments = (
        x.offset(10),
        y,
        3usize,
        -2i16,
        true,
        1.5f32,
        F16::from_f32(1.0),
        7u8,
        2.0f64,
    );
    launcher.launch(kernel(), Grid::new(1, 1), arguments).unwrap();
    let expected = [
        Argument::Pointer {
            buffer: BufferId::Tensor(0),
            offset: 40,
        },
        Argument::Pointer {
            buffer: BufferId::Tensor(1),
            offset: 0,
        },
        Argument::Value(vec![3, 0, 0, 0, 0, 0, 0, 0]),
        Argument::Value(vec![0xfe, 0xff]),
        Argument::Value(vec![1]),
        Argument::Value(1.5f32.to_le_bytes().to_vec()),
        Argument::Value(vec![0x00, 0x3c]),
        Argument::Value(vec![7]),
        Argument::Value(2.0f64.to_le_bytes().to_vec()),
    ];
    assert_eq!(only_launch(launcher).arguments, expected);
}

#[test]
fn a_launch_takes_thirty_two_arguments() {
    let mut launcher = launcher_on(gpu());
    launcher
        .launch(
            kernel(),
            Grid::new(1, 1),
            (
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                29, 30, 31, 32,
            ),
        )
        .unwrap();
    let arguments = only_launch(launcher).arguments;
    assert_eq!(arguments.len(), 32);
    assert_eq!(arguments[31], Argument::Value(32i32.to_le_bytes().to_vec()));
}

#[test]
fn a_null_pointer_has_the_size_of_a_pointer() {
    let mut launcher = launcher_on(gpu());
    launcher.launch(kernel(), Grid::new(1, 1), (crate::Null,)).unwrap();
    assert_eq!(only_launch(launcher).arguments, [Argument::Value(vec![0; 8])]);
}

#[test]
fn a_struct_is_passed_in_c_layout_with_zero_padding() {
    use crate::KernelArg;

    #[derive(KernelArg)]
    #[repr(C)]
    struct Inner(u8, u16);

    #[derive(KernelArg)]
    #[repr(C, align(16))]
    struct Outer<T> {
        flag: bool,
        scale: f64,
        inner: Inner,
        taps: [T; 3],
    }

    let value = Outer {
        flag: true,
        scale: 1.0,
        inner: Inner(2, 3),
        taps: [4u8, 5, 6],
    };
    let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(1.0f64.to_le_bytes());
    bytes.extend([2, 0, 3, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let mut launcher = launcher_on(gpu());
    launcher.launch(kernel(), Grid::new(1, 1), (value,)).unwrap();
    assert_eq!(only_launch(launcher).arguments, [Argument::Value(bytes)]);
}

#[test]
fn an_offset_or_range_out_of_bounds_is_rejected_where_it_is_used() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let mut refuse = |x: In<f32>| message_of(launcher.launch(kernel(), Grid::new(1, 1), (y, x)));
    assert_eq!(
        refuse(x.offset(101)),
        "`blur`: launch of `blur`: argument 2: elements 101..101 are outside of the buffer or range; the buffer has 100 elements"
    );
    assert_eq!(
        refuse(x.range(10..20).range(5..11)),
        "`blur`: launch of `blur`: argument 2: elements 15..21 are outside of the buffer or range; the buffer has 100 elements"
    );
    assert_eq!(
        refuse(x.offset(usize::MAX).offset(usize::MAX)),
        format!(
            "`blur`: launch of `blur`: argument 2: elements {0}..{0} are outside of the buffer or range; the buffer has 100 elements",
            u64::MAX
        )
    );
    launcher
        .launch(
            kernel(),
            Grid::new(1, 1),
            (x.offset(100), x.range(10..=19).range(..10), y),
        )
        .unwrap();
}

#[test]
fn memsets_and_copies_are_recorded_in_bytes() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let partial = launcher.scratch::<u8>(40).unwrap();
    launcher.memset(y, 0).unwrap();
    launcher.copy(x.range(5..15), partial).unwrap();
    let plan = launcher.finish().unwrap();
    assert_eq!(plan.scratch, [40]);
    let y = Span {
        buffer: BufferId::Tensor(1),
        offset: 0,
        len: 400,
    };
    let source = Span {
        buffer: BufferId::Tensor(0),
        offset: 20,
        len: 40,
    };
    let target = Span {
        buffer: BufferId::Scratch(0),
        offset: 0,
        len: 40,
    };
    assert_eq!(
        plan.steps,
        [Step::Memset { target: y, value: 0 }, Step::Copy { source, target }]
    );
}

#[test]
fn invalid_copies_are_rejected() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let mut refuse = |from: Out<f32>, to: Out<f32>| message_of(launcher.copy(from, to));
    assert_eq!(
        refuse(y.range(..5), y.offset(50)),
        "`blur`: copy: the source has 20 bytes and the target 200"
    );
    assert_eq!(
        refuse(y.range(..6), y.range(5..11)),
        "`blur`: copy: the source and the target overlap"
    );
    assert_eq!(refuse(y.range(5..5), y), "`blur`: copy: source: the range is empty");
    assert_eq!(
        refuse(y, y.range(1..101)),
        "`blur`: copy: target: elements 1..101 are outside of the buffer or range; the buffer has 100 elements"
    );
    launcher.copy(y.range(..5), y.range(5..10)).unwrap();
    launcher.copy(x, y).unwrap();
}

#[test]
fn a_pointer_has_an_element_type_unless_it_points_to_scratch() {
    let mut launcher = launcher_on(gpu());
    let (x, y) = buffers(&launcher);
    let room = launcher.scratch::<f64>(4).unwrap();
    launcher
        .launch(kernel(), Grid::new(1, 32), (x, y, room, F16::from_bits(1)))
        .unwrap();
    let types = only_launch(launcher).types;
    let described: Vec<_> = types
        .iter()
        .map(|ty| (ty.name.as_str(), ty.fields.first().map(|field| field.dtype)))
        .collect();
    let (float, half) = (Some(DType::F32), Some(DType::F16));
    let expected = [
        ("In<f32>", float),
        ("Out<f32>", float),
        ("Scratch<f64>", None),
        ("F16", half),
    ];
    assert_eq!(described, expected);
}

#[test]
fn scratch_memory_of_no_or_too_many_elements_is_rejected() {
    let mut launcher = launcher_on(gpu());
    assert_eq!(
        message_of(launcher.scratch::<f32>(0)),
        "`blur`: scratch: 0 elements are no memory to allocate"
    );
    assert_eq!(
        message_of(launcher.scratch::<f64>(usize::MAX / 4)),
        "`blur`: scratch: the shape [4611686018427387903] has more bytes than memory can hold"
    );
}

#[test]
fn a_parameter_that_contradicts_its_tensors_declaration_is_rejected() {
    let launcher = launcher_on(gpu());
    assert_eq!(
        launcher.buffer::<Out<f32>>("x", PLACE).unwrap_err().to_string(),
        "src/lib.rs:3: `blur`: the parameter `x` is `Out<f32>`, but the tensor is declared as `In<f32>`"
    );
    assert_eq!(
        launcher.buffer::<In<u32>>("x", PLACE).unwrap_err().to_string(),
        "src/lib.rs:3: `blur`: the parameter `x` is `In<u32>`, but the tensor is declared as `In<f32>`"
    );
    assert_eq!(
        launcher.buffer::<In<f32>>("z", PLACE).unwrap_err().to_string(),
        "src/lib.rs:3: `blur`: no tensor is called `z`: the tensors are `x`, `y`"
    );
    assert_eq!(
        launcher.buffer::<In<f32>>("xx", PLACE).unwrap_err().to_string(),
        "src/lib.rs:3: `blur`: no tensor is called `xx`: the tensors are `x`, `y` (hint: did you mean `x`?)"
    );
}

proptest::proptest! {
    #[test]
    fn a_covering_grid_is_the_smallest_that_covers(items in 1u64.., threads in 1u32..) {
        let blocks = Grid::covering(items, threads).blocks[0];
        let (items, threads) = (i128::from(items), i128::from(threads));
        proptest::prop_assert!((blocks - 1) * threads < items && items <= blocks * threads);
    }
}

#[test]
fn a_constant_is_set_once_and_fits_constant_memory() {
    let mut launcher = launcher_on(gpu());
    launcher.set_constant(&SOURCE, "scale", &[1u8]).unwrap();
    assert_eq!(
        message_of(launcher.set_constant(&SOURCE, "scale", &[2u8])),
        "`blur`: constant `scale`: it is already set"
    );
    assert_eq!(
        message_of(launcher.set_constant(&SOURCE, "taps[0]", &[2u8])),
        "`blur`: constant `taps[0]`: not a valid variable name"
    );
    assert_eq!(
        message_of(launcher.set_constant::<f32>(&SOURCE, "none", &[])),
        "`blur`: constant `none`: the value has 0 bytes; 1 to 65536 are allowed"
    );
    assert_eq!(
        message_of(launcher.set_constant(&SOURCE, "all", &[0u8; 65537])),
        "`blur`: constant `all`: the value has 65537 bytes; 1 to 65536 are allowed"
    );
}

/// A function that returns a map of a buffer.
type Mapping<'a> = dyn Fn(In<f32>) -> TensorMap + 'a;

/// Launches with a map of the 100 floats of `x`.
fn mapped(facts: DeviceFacts, change: impl FnOnce(In<f32>) -> TensorMap) -> String {
    let mut launcher = launcher_on(facts);
    let x = launcher.buffer::<In<f32>>("x", PLACE).unwrap();
    match launcher.launch(kernel(), Grid::new(1, 1), (change(x),)) {
        Ok(()) => "launched".to_owned(),
        failed => message_of(failed),
    }
}

#[test]
fn a_tensor_map_is_an_argument_with_strides_of_its_dimensions() {
    let mut launcher = launcher_on(gpu());
    let x = launcher.buffer::<In<f32>>("x", PLACE).unwrap().range(4..84);
    let map = TensorMap::tiled(x, [8, 10], [8, 2]).swizzle(crate::plan::Swizzle::Bytes32);
    launcher.launch(kernel(), Grid::new(1, 1), (map,)).unwrap();
    let Step::Launch(launch) = launcher.finish().unwrap().steps.remove(0) else {
        panic!("a launch")
    };
    let [Argument::TensorMap { buffer, offset, map }] = &launch.arguments[..] else {
        panic!("{launch:?}")
    };
    assert_eq!((*buffer, *offset), (BufferId::Tensor(0), 16));
    assert_eq!((&map.dims[..], &map.strides[..]), (&[8, 10][..], &[32][..]));
    assert_eq!(
        (&map.box_dims[..], &map.element_strides[..]),
        (&[8, 2][..], &[1, 1][..])
    );
}

#[test]
fn every_rule_of_tensor_maps_is_checked() {
    use crate::plan::{Interleave, OutOfBoundsFill, Swizzle, TensorMapElement};
    let broken = |change: &Mapping<'_>| mapped(gpu(), change);
    let plane = |x| TensorMap::tiled(x, [8, 12], [8, 2]);
    assert_eq!(broken(&plane), "launched");
    let rule = |change: &Mapping<'_>| {
        let message = broken(change);
        message
            .strip_prefix("`blur`: launch of `blur`: argument 1: tensor map: ")
            .unwrap_or(&message)
            .to_owned()
    };
    let rules: [(&Mapping<'_>, &str); 15] = [
        (
            &|x| TensorMap::tiled(x, [1; 6], [4; 6]),
            "it has 6 dimensions; 1 to 5 are allowed",
        ),
        (
            &|x| TensorMap::tiled(x, [], []),
            "it has 0 dimensions; 1 to 5 are allowed",
        ),
        (
            &|x| plane(x).interleave(Interleave::Bytes16),
            "it has 2 dimensions; 3 to 5 are allowed",
        ),
        (&|x| plane(x).strides([]), "it has 0 strides; 2 dimensions need 1"),
        (
            &|x| plane(x.offset(1)),
            "it starts 4 bytes into its buffer; the offset must be a multiple of 16",
        ),
        (
            &|x| TensorMap::tiled(x, [0, 2], [4, 1]),
            "dimension 0 has 0 elements; 1 to 2^32 are allowed",
        ),
        (
            &|x| plane(x).strides([40]),
            "the stride of dimension 1 is 40 bytes; it must be a multiple of 16 below 2^40",
        ),
        (
            &|x| TensorMap::tiled(x, [8, 12], [8, 257]),
            "the box has 257 elements along dimension 1; 1 to 256 are allowed",
        ),
        (
            &|x| plane(x).element_strides([1, 9]),
            "the element stride of dimension 1 is 9; 1 to 8 are allowed",
        ),
        (
            &|x| TensorMap::tiled(x, [8, 12], [6, 2]),
            "the box has 24 bytes along dimension 0; they must be a multiple of 16",
        ),
        (
            &|x| TensorMap::tiled(x, [16, 6], [16, 2]).swizzle(Swizzle::Bytes32),
            "the box has 64 bytes along dimension 0, more than the swizzle span of 32",
        ),
        (
            &|x| TensorMap::tiled(x, [8, 2, 2], [8, 1, 1]).interleave(Interleave::Bytes32),
            "interleaving by 32 bytes needs swizzling by 32 bytes",
        ),
        (
            &|x| TensorMap::tiled(x, [8, 13], [8, 2]),
            "it extends past the end of the buffer, which has 400 bytes",
        ),
        (
            &|x| {
                plane(x)
                    .element(TensorMapElement::U32)
                    .fill(OutOfBoundsFill::NanRequestZeroFma)
            },
            "only floating-point elements can be filled with NaN",
        ),
        (
            &|x| plane(x).element(TensorMapElement::F16),
            "its elements have 2 bytes, the buffer's have 4",
        ),
    ];
    for (change, expected) in rules {
        assert_eq!(rule(change), expected);
    }
}

#[test]
fn a_tensor_map_needs_a_device_that_supports_it() {
    let old = DeviceFacts {
        capability: 89,
        ..gpu()
    };
    assert_eq!(
        mapped(old, |x| TensorMap::tiled(x, [8, 12], [8, 2])),
        "`blur`: launch of `blur`: argument 1: `GPU` has no tensor maps: they need compute capability 9.0 (hint: add `requires(capability = 9.0)`)"
    );
}

#[test]
fn an_occupancy_query_needs_a_block_that_the_device_supports() {
    let error = launcher_on(gpu()).occupancy(&kernel(), 2048, 0).unwrap_err();
    assert!(error.to_string().contains("2048"), "{error}");
}

#[test]
fn the_first_error_is_reported_even_if_the_function_ignores_it() {
    let passed_over: [fn(&mut Launcher); 6] = [
        |launcher| drop(launcher.launch(kernel(), Grid::new(1, 2048), ())),
        |launcher| drop(launcher.scratch::<u8>(usize::MAX)),
        |launcher| drop(launcher.memset(buffers(launcher).1.range(100..101), 0)),
        |launcher| drop(launcher.copy(buffers(launcher).1, buffers(launcher).1)),
        |launcher| drop(launcher.set_constant::<f32>(&SOURCE, "weights", &[])),
        |launcher| drop(launcher.occupancy(&kernel(), 2048, 0)),
    ];
    for describe in passed_over {
        let mut launcher = launcher_on(gpu());
        launcher.launch(kernel(), Grid::new(1, 1), ()).unwrap();
        describe(&mut launcher);
        launcher.scratch::<u8>(0).unwrap_err();
        assert!(!message_of(launcher.finish()).contains("the shape [0]"));
    }
}

#[test]
fn an_endless_plan_fails_at_the_maximum_number_of_steps() {
    let mut launcher = launcher_on(gpu());
    let (_, y) = buffers(&launcher);
    let refused = (1_u32..).find_map(|step| Some((step, launcher.memset(y, 0).err()?)));
    let (step, error) = refused.unwrap();
    assert_eq!(step, 16_385);
    assert!(
        error.to_string().ends_with(
            "a plan can have at most 16384 launches, memsets and copies (hint: combine several into one kernel)"
        ),
        "{error}"
    );
}
