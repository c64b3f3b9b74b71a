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
fn takes_a_launcher(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn is_not_hosted(cx: &mut Host, zeros: Out<f32>) -> Result<()> {
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
fn nothing_returned(cx: &mut Host, zeros: Out<f32>) {}

#[gpubench(hosted, hosted)]
fn twice(cx: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(sync), tensors = plane, reference = clear_on_cpu, exact)]
fn synchronizes_a_launcher(cx: &mut Launcher, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(async))]
fn another_word(cx: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted())]
fn no_word(cx: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(sync, graph))]
fn two_words(cx: &mut Host) -> Result<()> {
    Ok(())
}

#[gpubench(hosted = sync)]
fn equals_sign(cx: &mut Host) -> Result<()> {
    Ok(())
}

#[problem(hosted, tensors = plane, exact)]
fn hosted_problem(zeros: &mut [f32]) {}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn writes_an_input(cx: &mut Host, zeros: Out<f32>) -> Result<()> {
    fn of(cx: &Host, x: In<f32>) -> *mut f32 {
        cx.pointer_mut(x)
    }
    Ok(())
}

fn main() {}
