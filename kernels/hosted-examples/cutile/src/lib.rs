//! `y = x + 1` with a tile kernel of cutile-rs.

use cuda_core::Stream;
use cutile::prelude::*;
use gpubench::prelude::*;

/// Elements that one tile block computes.
const TILE: usize = 1024;

#[cutile::module]
mod kernels {
    use cutile::core::*;

    #[cutile::entry()]
    pub fn add1<const B: i32>(y: &mut Tensor<f32, { [B] }>, x: &Tensor<f32, { [-1] }>) {
        let ones: Tile<f32, { [B] }> = broadcast_scalar(1.0f32, y.shape());
        let tile = x.load_like(y);
        y.store(tile + ones);
    }
}

fn add_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x + 1.0;
    }
}

#[gpubench(
    hosted,
    axes(n = [1 << 10, 1 << 21, 1 << 26]),
    reference = add_on_cpu,
    exact,
    requires(cuda),
)]
fn add1(
    host: &mut Host,
    n: usize,
    #[fill(Uniform(-100.0..100.0), n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> gpubench::Result<()> {
    // The primary context, which the tool also retains.
    let context = Context::new(host.ordinal() as usize)?;
    // SAFETY: the stream belongs to this context and lives until the process ends.
    let stream = unsafe { Stream::borrow_raw(host.stream(), &context) };
    let (x, y) = (host.pointer(x) as u64, host.pointer_mut(y) as u64);
    // SAFETY: both tensors have `n` elements, live until the process ends, and are used by this
    // call alone.
    let tensor =
        |pointer| unsafe { Tensor::<f32>::borrow_raw_parts(pointer, context.clone(), vec![n as i32], vec![1]) };
    let (x, mut y) = (tensor(x), tensor(y));
    // In the first call, cutile-rs compiles the kernel.
    kernels::add1((&mut y).partition([TILE]), &x).sync_on(&stream)?;
    host.call(move || {
        // SAFETY: what the kernel uses lives until the process ends, and the tool waits for it.
        unsafe { kernels::add1((&mut y).partition([TILE]), &x).async_on(&stream) }?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use cutile::compile_api::KernelCompiler;

    use super::*;

    #[test]
    fn the_kernel_compiles_to_tile_ir() {
        let kernel = KernelCompiler::new(kernels::__module_ast_self, "kernels", "add1")
            .generics(vec![TILE.to_string()])
            .strides(&[("y", &[1]), ("x", &[1])])
            .target("sm_90")
            .compile()
            .expect("the kernel compiles");
        assert!(kernel.ir_text().contains("entry @add1"), "{}", kernel.ir_text());
    }
}
