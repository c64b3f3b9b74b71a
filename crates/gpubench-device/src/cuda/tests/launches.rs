//! Streams, events, modules and launches with their attributes.

use std::sync::atomic::Ordering;

use gpubench::plan::{Cooperation, Dependence};

use super::*;
use crate::{Event, Stream};

const WORDS: u32 = 1000;

fn event_pair(driver: &mut CudaDriver) -> (Event, Event) {
    (driver.event().or_chain(), driver.event().or_chain())
}

fn increment(driver: &mut CudaDriver, stream: Stream, function: Function, words: DevicePtr, config: &LaunchConfig) {
    let arguments: [&[u8]; 2] = [&words.0.to_le_bytes(), &WORDS.to_le_bytes()];
    driver.launch(stream, function, config, &arguments).or_chain();
}

fn zeroed_words(driver: &mut CudaDriver, stream: Stream) -> DevicePtr {
    let words = driver.alloc(u64::from(WORDS) * 4).or_chain();
    driver.set(stream, words, 0, u64::from(WORDS) * 4).or_chain();
    words
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_stream_waits_for_go_runs_and_writes_done() {
    let mut driver = open();
    let page = Page::new();
    let on_device = driver.register(page.address(), 4096).or_chain();
    let stream = driver.stream().or_chain();
    let function = kernel(&mut driver, KERNELS, "increment");
    let words = zeroed_words(&mut driver, stream);
    driver.synchronize(stream).or_chain();
    let (start, end) = event_pair(&mut driver);
    for window in 1..=3 {
        driver.wait_value(stream, on_device, window).or_chain();
        driver.record(start, stream).or_chain();
        increment(&mut driver, stream, function, words, &LaunchConfig::linear(8, 128));
        driver.record(end, stream).or_chain();
        driver.write_value(stream, on_device.offset(4), window).or_chain();
        assert!(!driver.synchronize_within(stream, Duration::from_millis(20)).or_chain());
        assert_ne!(page.done.load(Ordering::Acquire), window);
        driver.store_value(page.address(), window);
        assert!(driver.synchronize_within(stream, PATIENCE).or_chain());
        assert_eq!(page.done.load(Ordering::Acquire), window);
        assert!(driver.elapsed_ns(start, end).or_chain() > 0.0);
        assert_eq!(word_at(&mut driver, words.offset(4 * u64::from(WORDS) - 4)), window);
    }
    assert_eq!(page.done.load(Ordering::Acquire), 3);
    assert_eq!(page.go.load(Ordering::Acquire), 3);
    assert_eq!(page.rest, [0; 4088]);
    driver.unregister(page.address());
}

/// Queues a first launch after a wait, releases the wait, and returns the word that the kernel
/// wrote.
fn first_launch_after_a_wait(name: &str, second_argument: u32, config: &LaunchConfig) -> u32 {
    let mut driver = open();
    let page = Page::new();
    let on_device = driver.register(page.address(), 4096).or_chain();
    let stream = driver.stream().or_chain();
    let function = kernel(&mut driver, KERNELS, name);
    let word = driver.alloc(4).or_chain();
    driver.prepare(function, config).or_chain();
    driver.wait_value(stream, on_device, 1).or_chain();
    let arguments: [&[u8]; 2] = [&word.0.to_le_bytes(), &second_argument.to_le_bytes()];
    driver.launch(stream, function, config, &arguments).or_chain();
    driver.store_value(page.address(), 1);
    driver.synchronize(stream).or_chain();
    let written = word_at(&mut driver, word);
    driver.unregister(page.address());
    written
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_first_launch_with_local_memory_can_wait_for_go() {
    let config = LaunchConfig::linear(2000, 256);
    assert_eq!(first_launch_after_a_wait("local_memory", 4095, &config), 4095);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_first_launch_with_more_than_48_kib_of_shared_memory_can_wait_for_go() {
    let config = LaunchConfig {
        dynamic_shared: 60 << 10,
        ..one_thread()
    };
    assert_eq!(first_launch_after_a_wait("shared_memory", (60 << 10) - 4, &config), 9);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_module_reports_parameters_symbols_and_resources() {
    let mut driver = open();
    let module = load(&mut driver, KERNELS);
    let function = driver.function(module, "increment").or_chain();
    if let Some(sizes) = driver.parameter_sizes(function) {
        assert_eq!(sizes, [8, 4]);
    }
    let (answer, bytes) = driver.symbol(module, "answer").or_chain();
    assert_eq!((bytes, word_at(&mut driver, answer)), (4, 42));
    let mut resources = |threads| {
        let resources = driver.resources(function, &LaunchConfig::linear(1, threads)).or_chain();
        resources.expect("a GPU has resources")
    };
    let (few, many) = (resources(1024), resources(128));
    assert!(few.blocks >= 1 && many.blocks > few.blocks, "{few:?} {many:?}");
    assert!(few.registers > 0 && few.clusters.is_none(), "{few:?}");
    assert!(
        !few.limited_by.is_empty() && !many.limited_by.is_empty(),
        "{few:?} {many:?}"
    );
    let missing = driver.function(module, "absent");
    assert!(matches!(missing, Err(DeviceError::NoFunction(name)) if name == "absent"));
    let missing = driver.symbol(module, "absent");
    assert!(matches!(missing, Err(DeviceError::NoSymbol(name)) if name == "absent"));
}

/// Returns PTX of a kernel that needs a register for each of `values` numbers.
fn with_live_values(values: u32) -> String {
    let each = |form: fn(u32, u32) -> String| (0..values).map(|value| form(value, values)).collect::<String>();
    format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry wide(.param .u64 words)\n{{\n\
         .reg .b32 %r<{values}>;\n.reg .b64 %d;\nld.param.u64 %d, [words];\n{}{}ret;\n}}\n",
        each(|value, _| format!("ld.volatile.global.u32 %r{value}, [%d+{}];\n", 4 * value)),
        each(|value, all| format!("st.volatile.global.u32 [%d+{}], %r{};\n", 4 * value, all - 1 - value)),
    )
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn what_limits_the_occupancy_is_known_for_every_shape() {
    let mut driver = open();
    let most_shared = driver.facts().device.shared_per_block_optin as u32;
    let mut shapes = 0;
    for values in [1, 20, 28, 36, 60, 90, 125, 160, 220] {
        let function = kernel(&mut driver, &with_live_values(values), "wide");
        for threads in (1..=1024).step_by(31) {
            for dynamic_shared in [0, 1000, 5 << 10, 16 << 10, 33 << 10, 48 << 10, most_shared] {
                let config = LaunchConfig {
                    dynamic_shared,
                    ..LaunchConfig::linear(1, threads)
                };
                let resources = driver
                    .resources(function, &config)
                    .or_chain()
                    .expect("a GPU has resources");
                assert!(
                    !resources.limited_by.is_empty(),
                    "{threads} threads, {dynamic_shared} bytes: {resources:?}"
                );
                shapes += 1;
            }
        }
    }
    println!("{shapes} shapes");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn valid_tensor_maps_are_encoded_and_a_refused_one_names_the_call() {
    use gpubench::plan::{Swizzle, TensorMapDescription, TensorMapElement};
    let mut driver = open();
    if driver.facts().device.capability < 90 {
        return;
    }
    let base = driver.alloc(64 * 128 * 2).or_chain();
    let map = TensorMapDescription {
        element: TensorMapElement::F16,
        dims: vec![64, 128],
        strides: vec![128],
        box_dims: vec![64, 8],
        element_strides: vec![1, 1],
        interleave: Default::default(),
        swizzle: Swizzle::Bytes128,
        l2_promotion: Default::default(),
        fill: Default::default(),
    };
    assert_ne!(driver.encode_tensor_map(base, &map).or_chain(), [0; 128]);
    let wide = TensorMapDescription {
        swizzle: Swizzle::Bytes32,
        ..map
    };
    let refused = driver.encode_tensor_map(base, &wide).unwrap_err();
    assert!(
        chain(&refused).contains("cuTensorMapEncodeTiled"),
        "{}",
        chain(&refused)
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_error_of_code_that_cannot_be_loaded_has_the_reason() {
    let mut driver = open();
    let wrong = KERNELS.replace("add.u32 %r5, %r5, 1;", "add.u32 %r5, %r5;");
    let newer = KERNELS.replace(".version 7.8", ".version 99.9");
    for (image, expected) in [(wrong.as_str(), "line"), (newer.as_str(), "driver"), ("nonsense", "")] {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), image).unwrap();
        let refused = driver
            .load(ModuleImage::File(&FrozenFile::copy_of(file.path()).unwrap()))
            .unwrap_err();
        let text = chain(&refused);
        println!("{text}\n");
        assert!(
            matches!(refused, DeviceError::Load(_)) && text.contains(expected),
            "{text}"
        );
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_refused_launch_names_the_call_and_leaves_the_stream_usable() {
    let mut driver = open();
    let stream = driver.stream().or_chain();
    let function = kernel(&mut driver, KERNELS, "increment");
    let words = zeroed_words(&mut driver, stream);
    let arguments: [&[u8]; 2] = [&words.0.to_le_bytes(), &WORDS.to_le_bytes()];
    let too_large = LaunchConfig::linear(1, 4096);
    let refused = driver.launch(stream, function, &too_large, &arguments).unwrap_err();
    let text = chain(&refused);
    println!("{text}");
    assert!(
        matches!(refused, DeviceError::Driver(_)) && text.contains("cuLaunchKernelEx"),
        "{text}"
    );
    let too_few = driver
        .launch(stream, function, &one_thread(), &arguments[..1])
        .unwrap_err();
    assert!(matches!(too_few, DeviceError::Unsupported(_)), "{too_few:?}");
    increment(&mut driver, stream, function, words, &LaunchConfig::linear(8, 128));
    driver.synchronize(stream).or_chain();
    assert_eq!(word_at(&mut driver, words), 1);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_cooperative_grid_runs_if_it_fits() {
    let mut driver = open();
    let stream = driver.stream().or_chain();
    let function = kernel(&mut driver, KERNELS, "increment");
    let words = zeroed_words(&mut driver, stream);
    let cooperative = LaunchConfig {
        cooperation: Cooperation::Grid,
        ..LaunchConfig::linear(8, 128)
    };
    increment(&mut driver, stream, function, words, &cooperative);
    driver.synchronize(stream).or_chain();
    assert_eq!(word_at(&mut driver, words), 1);
    let arguments: [&[u8]; 2] = [&words.0.to_le_bytes(), &WORDS.to_le_bytes()];
    let too_many = LaunchConfig {
        grid: [1 << 20, 1, 1],
        ..cooperative
    };
    let refused = driver.launch(stream, function, &too_many, &arguments).unwrap_err();
    println!("{}", chain(&refused));
    assert!(matches!(refused, DeviceError::Driver(_)), "{refused:?}");
}

#[test]
#[ignore = "needs an NVIDIA GPU of compute capability 9.0"]
fn clusters_have_the_requested_size() {
    let mut driver = open();
    let stream = driver.stream().or_chain();
    let function = kernel(&mut driver, HOPPER, "cluster_size");
    let word = driver.alloc(4).or_chain();
    for blocks in [2, 8, 16] {
        let config = LaunchConfig {
            cluster: [blocks, 1, 1],
            ..LaunchConfig::linear(blocks, 32)
        };
        driver.prepare(function, &config).or_chain();
        driver
            .launch(stream, function, &config, &[&word.0.to_le_bytes()])
            .or_chain();
        driver.synchronize(stream).or_chain();
        assert_eq!(word_at(&mut driver, word), blocks);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of compute capability 9.0"]
fn a_programmatic_launch_waits_at_its_kernels_dependency_wait() {
    let mut driver = open();
    let stream = driver.stream().or_chain();
    let module = load(&mut driver, HOPPER);
    let waiting = driver.function(module, "waiting").or_chain();
    let word = driver.alloc(4).or_chain();
    driver.set(stream, word, 0, 4).or_chain();
    let config = LaunchConfig {
        dependence: Dependence::Programmatic,
        ..one_thread()
    };
    for _ in 0..100 {
        driver
            .launch(stream, waiting, &config, &[&word.0.to_le_bytes()])
            .or_chain();
    }
    driver.synchronize(stream).or_chain();
    assert_eq!(word_at(&mut driver, word), 100);
}
