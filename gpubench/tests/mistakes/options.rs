//! Options that are unknown, repeated, contradictory or malformed.
#![allow(unused)]
use gpubench::prelude::*;

fn plane(width: usize) -> Tensors {
    Tensors::new().output("zeros", f32::shape(width))
}

fn clear_on_cpu(_: usize, zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(axis(width = [1]))]
fn unknown(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), exact, inputs = plane)]
fn renamed(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), exact, tensors = plane, sleep_after_run)]
fn also_renamed(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), exact, tensors = plane, exact)]
fn repeated(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, r#tensors = plane)]
fn repeated_raw(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]), tensors = plane, reference = clear_on_cpu, exact, tolerance(rtol = 1e-5))]
fn contradictory(launcher: &mut Launcher, width: usize, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(axes = [1, 2])]
fn axes_without_parentheses(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(axes(width = [1]) tensors = plane)]
fn no_comma(launcher: &mut Launcher, width: usize) -> Result<()> {
    Ok(())
}

#[gpubench(tensors(plane))]
fn inputs_in_parentheses(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tolerance(relative = 1e-5))]
fn unknown_part_of_a_tolerance(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tolerance(rtol = 1e-2, mismatched = 0.01))]
fn mismatched_without_a_cap(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tolerance(rtol = 1e-2, cap = 10.0))]
fn cap_of_no_elements(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tolerance(mismatched = 0.01, cap = 10.0))]
fn mismatched_without_a_tolerance(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tolerance = 1e-5)]
fn tolerance_as_a_number(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(requires(rocm))]
fn unknown_requirement(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(requires(capability = 90))]
fn capability_without_minor_number(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(requires(cpu, capability = 9.0))]
fn impossible_requirements(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(cpu(width = [1]))]
fn device_without_axes(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(name = "two words")]
fn name_with_a_blank(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench("width")]
fn not_an_option(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

/// Declares a benchmark with a setting.
macro_rules! set {
    ($name:ident: $($setting:tt)*) => {
        #[gpubench($($setting)*)]
        fn $name(launcher: &mut Launcher) -> Result<()> {
            Ok(())
        }
    };
}

set!(no_samples: max_samples = 0);
set!(samples_as_text: max_samples = "50");
set!(half_a_worker: workers = 0.5);
set!(crossing_limits: min_samples = 30, max_samples = 20);
set!(a_time_as_a_number: timeout = 10);
set!(a_time_without_a_unit: max_time = "10");
set!(no_time: reference_timeout = "0s");
set!(a_budget_that_is_not_one: sample_time = "nothing");
set!(a_limit_cannot_be_none: timeout = "none");
set!(too_wide: target_cv = "100%");
set!(a_whole_fraction: target_cv = 2);
set!(no_value: max_samples);
set!(a_setting_of_runs: noise_threshold = "2%");
set!(twice: workers = 3, workers = 5);

#[problem(tensors = plane, workers = 5)]
fn problem_with_a_setting(zeros: &mut [f32]) {}

#[problem(tensors = plane, reference = clear_on_cpu)]
fn problem_with_a_reference(zeros: &mut [f32]) {}

#[problem(ignore)]
fn problem_that_is_ignored() {}

fn main() {}
