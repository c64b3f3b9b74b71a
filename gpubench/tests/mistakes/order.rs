//! Parameters of one type in another order, which the compiler accepts.
use gpubench::prelude::*;

fn matrix(cols: usize, rows: usize) -> Tensors {
    Tensors::new().output("y", f32::shape([rows, cols]))
}

fn zeros(_rows: usize, _cols: usize, y: &mut [f32]) {
    y.fill(0.0);
}

fn tall(rows: usize, cols: usize) -> Tensors {
    matrix(cols, rows)
}

fn differences(_rows: usize, _cols: usize, b: &[f32], a: &[f32], y: &mut [f32]) {
    y.copy_from_slice(a);
    y[0] -= b[0];
}

#[gpubench(axes(rows = [2usize], cols = [3usize]), tensors = matrix, reference = zeros)]
fn generator(launcher: &mut Launcher, rows: usize, cols: usize, y: Out<f32>) -> Result<()> {
    let _ = (launcher, rows, cols, y);
    Ok(())
}

#[gpubench(axes(rows = [2usize], cols = [3usize]), tensors = tall, reference = differences)]
fn reference(launcher: &mut Launcher, rows: usize, cols: usize, a: In<f32>, b: In<f32>, y: Out<f32>) -> Result<()> {
    let _ = (launcher, rows, cols, a, b, y);
    Ok(())
}

// These are right: the call is written, and the names are others.
#[gpubench(axes(rows = [2usize], cols = [3usize]), tensors = matrix(cols, rows), reference = zeros)]
fn written(launcher: &mut Launcher, rows: usize, cols: usize, y: Out<f32>) -> Result<()> {
    let _ = (launcher, rows, cols, y);
    Ok(())
}

#[gpubench(axes(m = [2usize], n = [3usize]), tensors = tall, reference = zeros)]
fn renamed(launcher: &mut Launcher, m: usize, n: usize, y: Out<f32>) -> Result<()> {
    let _ = (launcher, m, n, y);
    Ok(())
}

fn main() {}
