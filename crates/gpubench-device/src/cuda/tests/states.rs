//! Unusable drivers: each is a library of a few lines, compiled here and opened in a process of its
//! own.

use std::process::Command;

use super::super::api::Api;
use super::CudaDriver;
use crate::{Absence, AbsenceKind, DeviceError, DeviceOrder};

/// The environment variable that makes the test open the driver.
const OPENS: &str = "GPUBENCH_TEST_OPENS";

/// The prefix of the line with the process's answer.
const ANSWER: &str = "answer: ";

/// A fake driver library.
#[derive(Clone, Copy)]
struct Fake {
    /// The result of `cuInit`.
    start: i32,
    version: i32,
    gpus: i32,
    major: i32,
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_MODE`.
    mode: i32,
    /// An attribute that is 0.
    missing_attribute: i32,
    /// The name of a missing function.
    lacks: &'static str,
}

const GOOD: Fake = Fake {
    start: 0,
    version: 13_000,
    gpus: 1,
    major: 9,
    mode: 0,
    missing_attribute: -1,
    lacks: "",
};

impl Fake {
    fn source(self) -> String {
        let Fake {
            start,
            version,
            gpus,
            major,
            mode,
            missing_attribute,
            lacks,
        } = self;
        let mut source = format!(
            "int cuInit(unsigned flags) {{ return {start}; }}
            int cuDriverGetVersion(int *version) {{ *version = {version}; return 0; }}
            int cuGetErrorName(int code, const char **name) {{ *name = \"CUDA_ERROR_FAKE\"; return code == 4711; }}
            int cuGetErrorString(int code, const char **text) {{ *text = \"a fake\"; return code == 4711; }}
            int cuDeviceGetCount(int *count) {{ *count = {gpus}; return 0; }}
            int cuDeviceGet(int *device, int ordinal) {{ *device = ordinal; return 0; }}
            int cuDeviceGetAttribute(int *value, int attribute, int device) {{
              switch (attribute) {{
                case {missing_attribute}: *value = 0; break;
                case 75: *value = {major}; break;
                case 20: *value = {mode}; break;
                case 76: case 133: *value = 0; break;
                default: *value = 1;
              }}
              return 0;
            }}\n"
        );
        for name in Api::REQUIRED {
            if *name != lacks && !source.contains(&format!("int {name}(")) {
                source.push_str("int ");
                source.push_str(name);
                source.push_str("(void) { return 999; }\n");
            }
        }
        source
    }

    /// Returns the answer of a process that opens `cuda:ORDINAL` with this driver.
    fn answer(self, ordinal: u32) -> String {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("driver.c");
        fs_err::write(&source, self.source()).unwrap();
        // The first name that the loader tries, so that it takes precedence over a real driver.
        let library = folder.path().join("libcuda.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-o"])
            .args([&library, &source])
            .output()
            .expect("`cc` is needed to make a driver");
        assert!(
            compiled.status.success(),
            "{}",
            String::from_utf8_lossy(&compiled.stderr)
        );
        let opened = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "cuda::tests::states::a_complete_driver_is_used",
            ])
            .env(OPENS, ordinal.to_string())
            .env("LD_LIBRARY_PATH", folder.path())
            .env_remove("CUDA_VISIBLE_DEVICES")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&opened.stdout).into_owned();
        let answer = printed.lines().find_map(|line| line.split_once(ANSWER));
        let (_, answer) = answer.unwrap_or_else(|| panic!("{printed}{}", String::from_utf8_lossy(&opened.stderr)));
        answer.to_owned()
    }
}

/// Opens the GPU and returns the outcome on one line.
fn open(ordinal: u32) -> String {
    match CudaDriver::open(&DeviceOrder::cuda(ordinal)) {
        Ok(_) => "opened".to_owned(),
        Err(DeviceError::Absent(absence)) => {
            let Absence { kind, reason, hint } = absence;
            let expected = match reason.starts_with("there is no `cuda:") {
                true => AbsenceKind::BeyondLast,
                false => AbsenceKind::Unusable,
            };
            assert_eq!(kind, expected, "{reason}");
            format!("{reason} | {hint}")
        }
        Err(error) => format!("error: {}", gpubench_diagnostic::chain(&error)),
    }
}

#[test]
fn a_complete_driver_is_used() {
    if let Ok(ordinal) = std::env::var(OPENS) {
        println!("\n{ANSWER}{}", open(ordinal.parse().unwrap()));
        return;
    }
    // It gets as far as creating a context; the failure there names the call.
    let answer = GOOD.answer(0);
    assert!(
        answer.starts_with("error: ")
            && answer.contains("`CUDA_ERROR_FAKE` (999): a fake")
            && answer.contains("PrimaryCtx"),
        "{answer}"
    );
}

#[test]
fn each_failed_start_is_explained() {
    for (start, expected) in [
        (34, "a link-time stub"),
        (100, "finds no GPU"),
        (803, "different versions"),
        (804, "forward-compatibility"),
        (999, "failed to initialize"),
    ] {
        let answer = Fake { start, ..GOOD }.answer(0);
        assert!(answer.contains(expected), "{answer}");
        assert!(answer.contains(&format!("({start})")), "{answer}");
    }
}

#[test]
fn an_unknown_result_is_shown_as_a_number() {
    let answer = Fake { start: 4711, ..GOOD }.answer(0);
    assert!(answer.contains("the unknown result `4711`"), "{answer}");
}

#[test]
fn a_driver_that_is_too_old_is_detected_by_its_functions_or_version() {
    let answer = Fake {
        lacks: "cuLaunchKernelEx",
        ..GOOD
    }
    .answer(0);
    assert!(answer.contains("too old: it lacks `cuLaunchKernelEx`"), "{answer}");
    let answer = Fake {
        version: 11_080,
        ..GOOD
    }
    .answer(0);
    assert!(answer.contains("it supports only CUDA 11.8"), "{answer}");
}

#[test]
fn the_error_for_a_missing_gpu_lists_the_available_ones() {
    let answer = GOOD.answer(3);
    assert!(
        answer.contains("there is no `cuda:3`: this machine has 1 GPU |"),
        "{answer}"
    );
    let answer = Fake { gpus: 2, ..GOOD }.answer(2);
    assert!(
        answer.contains("this machine has 2 GPUs") && answer.contains("`cuda:0` to `cuda:1`"),
        "{answer}"
    );
}

#[test]
fn a_gpu_without_support_for_the_protocol_is_refused_with_the_reason() {
    let cases = [
        (Fake { major: 7, ..GOOD }, "compute capability 7.0"),
        (Fake { mode: 2, ..GOOD }, "prohibited"),
        (Fake { mode: 3, ..GOOD }, "exclusive-process"),
        (
            Fake {
                missing_attribute: 102,
                ..GOOD
            },
            "virtual memory management",
        ),
        (
            Fake {
                missing_attribute: 103,
                ..GOOD
            },
            "share memory through file descriptors",
        ),
    ];
    for (fake, expected) in cases {
        let answer = fake.answer(0);
        assert!(answer.contains(expected), "{answer}");
    }
}
