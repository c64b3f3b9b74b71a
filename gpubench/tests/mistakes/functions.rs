//! Functions and parameters that a benchmark cannot have.
#![allow(unused)]
use gpubench::prelude::*;

fn plane() -> Tensors {
    Tensors::new().output("zeros", f32::shape(4))
}

fn clear_on_cpu(zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn launcher_missing(zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench]
fn no_parameters() -> Result<()> {
    Ok(())
}

#[gpubench]
fn launcher_by_shared_reference(launcher: &Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn nothing_returned(launcher: &mut Launcher, zeros: Out<f32>) {
    launcher.memset(zeros, 0).unwrap();
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn slice(launcher: &mut Launcher, zeros: &mut [f32]) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn buffer_by_reference(launcher: &mut Launcher, zeros: &Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn pointer(launcher: &mut Launcher, zeros: *mut f32) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn pattern(launcher: &mut Launcher, (zeros, _): (Out<f32>, Out<f32>)) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn generic<T: Element>(launcher: &mut Launcher, zeros: Out<T>) -> Result<()> {
    Ok(())
}

#[gpubench]
async fn asynchronous(launcher: &mut Launcher) -> Result<()> {
    Ok(())
}

#[gpubench(reference = clear_on_cpu, exact)]
fn inputs_missing(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, exact)]
fn reference_missing(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn twice(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench]
struct NotAFunction;

#[gpubench(axes(order = ["rows"]), tensors = plane, reference = clear_on_cpu, exact)]
fn owned_text(launcher: &mut Launcher, order: String, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

struct Method;

impl Method {
    #[gpubench]
    fn method(&self, launcher: &mut Launcher) -> Result<()> {
        Ok(())
    }
}

#[problem(tensors = plane, exact)]
fn problem_with_a_buffer(zeros: Out<f32>) {}

fn main() {}
