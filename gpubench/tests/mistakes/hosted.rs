//! Functions that cannot be hosted benchmarks.
#![allow(unused)]
use gpubench::prelude::*;

fn plane() -> Tensors {
    Tensors::new().output("zeros", f32::shape(4))
}

fn clear_on_cpu(zeros: &mut [f32]) {
    zeros.fill(0.0);
}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn takes_a_launcher(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn is_not_hosted(host: &mut Host, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn host_missing(zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted)]
fn no_parameters() -> Result<()> {
    Ok(())
}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn nothing_returned(host: &mut Host, zeros: Out<f32>) {}

#[gpubench(hosted, hosted)]
fn twice(host: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(sync), tensors = plane, reference = clear_on_cpu, exact)]
fn synchronizes_a_launcher(launcher: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(async))]
fn another_word(host: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted())]
fn no_word(host: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(sync, graph))]
fn two_words(host: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted = sync)]
fn equals_sign(host: &mut Host) -> Result<()> {
    Ok(())
}

#[problem(hosted, tensors = plane, exact)]
fn hosted_problem(zeros: &mut [f32]) {}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn writes_an_input(host: &mut Host, zeros: Out<f32>) -> Result<()> {
    fn of(host: &Host, x: In<f32>) -> *mut f32 {
        host.pointer_mut(x)
    }
    Ok(())
}

fn main() {}
