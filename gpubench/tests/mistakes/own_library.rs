//! Functions that cannot declare the call of a library.
#![allow(unused)]
use gpubench::prelude::*;

fn plane() -> Tensors {
    Tensors::new().output("zeros", f32::shape(4))
}

fn clear_on_cpu(zeros: &mut [f32]) {
    zeros.fill(0.0);
}

fn path() -> &'static str {
    "libs/libfast.so"
}

#[gpubench(hosted(library = "libs/libfast.so"), tensors = plane, reference = clear_on_cpu, exact)]
fn takes_a_host(host: &mut Host, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted, tensors = plane, reference = clear_on_cpu, exact)]
fn names_no_library(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(tensors = plane, reference = clear_on_cpu, exact)]
fn is_not_hosted(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = ""), tensors = plane, reference = clear_on_cpu, exact)]
fn empty_path(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = concat!("", "")), tensors = plane, reference = clear_on_cpu, exact)]
fn empty_after_all(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = 7), tensors = plane, reference = clear_on_cpu, exact)]
fn number(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = path()), tensors = plane, reference = clear_on_cpu, exact)]
fn not_constant(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = env!("NO_BUILD_SCRIPT_SETS_THIS")), tensors = plane, reference = clear_on_cpu, exact)]
fn variable_missing(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library), tensors = plane, reference = clear_on_cpu, exact)]
fn path_missing(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = "a", library = "b"), tensors = plane, reference = clear_on_cpu, exact)]
fn two_paths(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    Ok(())
}

#[gpubench(hosted(library = "libs/libfast.so"), tensors = plane, reference = clear_on_cpu, exact)]
fn passes_text(library: &mut Library, zeros: Out<f32>) -> Result<()> {
    library.call("solution", (zeros, "text"))
}

fn main() {}
