//! Drivers that cannot be used: each a library of a few lines, compiled here and opened by a
//! process of its own.

use std::process::Command;

use super::super::api::Api;
use super::CudaDriver;
use crate::{Absence, AbsenceKind, DeviceError};

/// Tells the test that it is the process which opens the driver.
const OPENS: &str = "GPUBENCH_TEST_OPENS";

/// What marks the line of the process's answer.
const ANSWER: &str = "answer: ";

/// A driver's library.
#[derive(Clone, Copy)]
struct Fake {
    /// What `cuInit` gives.
    start: i32,
    version: i32,
    gpus: i32,
    major: i32,
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_MODE`.
    mode: i32,
    /// An attribute that is 0.
    withheld: i32,
    /// A function that is not there.
    lacks: &'static str,
}

const GOOD: Fake = Fake {
    start: 0,
    version: 13_000,
    gpus: 1,
    major: 9,
    mode: 0,
    withheld: -1,
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
            withheld,
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
                case {withheld}: *value = 0; break;
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

    /// What a process that finds this driver says of `cuda:ORDINAL`.
    fn says(self, ordinal: u32) -> String {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("driver.c");
        fs_err::write(&source, self.source()).unwrap();
        // Under its first name, so that it comes before a real one.
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
                "cuda::tests::states::a_driver_that_lacks_nothing_is_used",
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

/// What opening came to, on one line.
fn open(ordinal: u32) -> String {
    match CudaDriver::open(ordinal) {
        Ok(_) => "opened".to_owned(),
        Err(DeviceError::Absent(absence)) => {
            let Absence { kind, reason, hint } = absence;
            assert_eq!(kind, AbsenceKind::Unusable);
            format!("{reason} | {hint}")
        }
        Err(error) => format!("error: {}", gpubench_diagnostic::chain(&error)),
    }
}

#[test]
fn a_driver_that_lacks_nothing_is_used() {
    if let Ok(ordinal) = std::env::var(OPENS) {
        println!("\n{ANSWER}{}", open(ordinal.parse().unwrap()));
        return;
    }
    // It is asked for a context: a refusal there names the call.
    let said = GOOD.says(0);
    assert!(
        said.starts_with("error: ") && said.contains("`CUDA_ERROR_FAKE` (999): a fake") && said.contains("PrimaryCtx"),
        "{said}"
    );
}

#[test]
fn each_refusal_to_start_is_told_in_words() {
    for (start, expected) in [
        (34, "a link-time stub"),
        (100, "finds no GPU"),
        (803, "different versions"),
        (804, "forward-compatibility"),
        (999, "failed to initialise"),
    ] {
        let said = Fake { start, ..GOOD }.says(0);
        assert!(said.contains(expected), "{said}");
        assert!(said.contains(&format!("({start})")), "{said}");
    }
}

#[test]
fn a_result_that_no_header_knows_is_a_number() {
    let said = Fake { start: 4711, ..GOOD }.says(0);
    assert!(said.contains("the unknown result `4711`"), "{said}");
}

#[test]
fn a_driver_that_is_too_old_is_told_by_what_it_lacks_or_by_its_version() {
    let said = Fake {
        lacks: "cuLaunchKernelEx",
        ..GOOD
    }
    .says(0);
    assert!(said.contains("too old: it lacks `cuLaunchKernelEx`"), "{said}");
    let said = Fake {
        version: 11_080,
        ..GOOD
    }
    .says(0);
    assert!(said.contains("it supports CUDA 11.8"), "{said}");
}

#[test]
fn a_gpu_that_there_is_not_is_told_with_those_that_there_are() {
    let said = GOOD.says(3);
    assert!(
        said.contains("`cuda:3` is asked for; this machine has 1 GPU |"),
        "{said}"
    );
    let said = Fake { gpus: 2, ..GOOD }.says(2);
    assert!(
        said.contains("this machine has 2 GPUs") && said.contains("`cuda:0` to `cuda:1`"),
        "{said}"
    );
}

#[test]
fn a_gpu_that_cannot_keep_to_the_protocol_is_refused_with_the_reason() {
    let cases = [
        (Fake { major: 7, ..GOOD }, "compute capability 7.0"),
        (Fake { mode: 2, ..GOOD }, "prohibited"),
        (Fake { mode: 3, ..GOOD }, "exclusive-process"),
        (Fake { withheld: 102, ..GOOD }, "virtual memory management"),
        (Fake { withheld: 103, ..GOOD }, "share memory by file descriptor"),
    ];
    for (fake, expected) in cases {
        let said = fake.says(0);
        assert!(said.contains(expected), "{said}");
    }
}
