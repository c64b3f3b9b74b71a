//! Random kernels, compared with a model that runs all threads of a block in lockstep.

use std::fmt::Write as _;

use fastrand::Rng;

use super::*;

const BLOCKS: [u32; 8] = [1, 7, 32, 33, 64, 100, 256, 1000];

/// One statement of a kernel on a variable `v` per thread; `t` is the thread, `n` the block size,
/// `lane` and `warp` are as in CUDA.
#[derive(Clone, Debug)]
enum Step {
    /// Sets `v` to a function of `v` and the thread.
    Mix { factor: u32 },
    /// Combines `v` with that of a thread at a distance, through shared memory.
    Exchange { distance: u32 },
    /// Shuffles all lanes of the warps whose number has `parity`, or of all warps.
    Shuffle {
        how: Shuffle,
        delta: u32,
        width: u32,
        warps: Warps,
    },
    /// Shuffles only the lanes of a set.
    PartialShuffle { lanes: u32, xor: u32 },
    /// Votes of a warp.
    Ballot { modulus: u32 },
    /// Matches lanes with equal values.
    Match { modulus: u32 },
    /// The sum over a warp.
    Reduce,
    /// A count over the block.
    Count { modulus: u32 },
    /// A loop whose body every thread runs the same number of times.
    Repeat { times: u32, body: Vec<Step> },
}

#[derive(Clone, Copy, Debug)]
enum Shuffle {
    Up,
    Down,
    Xor,
    /// In a function that is not inlined.
    Called,
}

#[derive(Clone, Copy, Debug)]
enum Warps {
    All,
    Even,
}

impl Warps {
    fn holds(self, thread: usize) -> bool {
        matches!(self, Warps::All) || (thread / 32).is_multiple_of(2)
    }
}

const PRELUDE: &str = "
    __device__ __noinline__ unsigned called(unsigned v, unsigned delta, unsigned width) {
        return __shfl_down_sync(~0u, v, delta, width);
    }
";

impl Step {
    fn random(rng: &mut Rng, depth: u32) -> Step {
        match rng.u32(0..if depth == 0 { 9 } else { 8 }) {
            0 => Step::Mix {
                factor: rng.u32(..) | 1,
            },
            1 => Step::Exchange {
                distance: rng.u32(1..1000),
            },
            2 | 3 => Step::Shuffle {
                how: [Shuffle::Up, Shuffle::Down, Shuffle::Xor, Shuffle::Called][rng.usize(..4)],
                delta: rng.u32(0..32),
                width: 1 << rng.u32(0..6),
                warps: if rng.bool() { Warps::All } else { Warps::Even },
            },
            4 => Step::PartialShuffle {
                lanes: rng.u32(1..),
                xor: rng.u32(0..32),
            },
            5 => Step::Ballot { modulus: rng.u32(2..6) },
            6 => Step::Match { modulus: rng.u32(2..6) },
            7 => {
                if rng.bool() {
                    Step::Reduce
                } else {
                    Step::Count { modulus: rng.u32(2..6) }
                }
            }
            _ => Step::Repeat {
                times: rng.u32(2..4),
                body: (0..rng.usize(1..4)).map(|_| Step::random(rng, depth + 1)).collect(),
            },
        }
    }

    fn write(&self, text: &mut String) {
        let mut line = |line: String| writeln!(text, "    {line}").expect("writing to a string");
        match self {
            Step::Mix { factor } => line(format!("v = v * {factor}u + t;")),
            Step::Exchange { distance } => {
                line("s[t] = v; __syncthreads();".to_owned());
                line(format!("v ^= s[(t + {distance}u) % n] * 3u; __syncthreads();"));
            }
            Step::Shuffle {
                how,
                delta,
                width,
                warps,
            } => {
                let call = match how {
                    Shuffle::Up => format!("__shfl_up_sync(~0u, v, {delta}u, {width})"),
                    Shuffle::Down => format!("__shfl_down_sync(~0u, v, {delta}u, {width})"),
                    Shuffle::Xor => format!("__shfl_xor_sync(~0u, v, {delta}, {width})"),
                    Shuffle::Called => format!("called(v, {delta}u, {width}u)"),
                };
                let condition = if matches!(warps, Warps::All) {
                    ""
                } else {
                    "if (warp % 2 == 0) "
                };
                line(format!("{condition}v += {call};"));
            }
            Step::PartialShuffle { lanes, xor } => {
                line(format!(
                    "if ({lanes}u >> lane & 1) v += 5 * __shfl_xor_sync({lanes}u, v, {xor});"
                ));
            }
            Step::Ballot { modulus } => line(format!("v += __ballot_sync(~0u, v % {modulus} == 0);")),
            Step::Match { modulus } => line(format!("v ^= __match_any_sync(~0u, v % {modulus});")),
            Step::Reduce => line("v += __reduce_add_sync(~0u, v) >> 3;".to_owned()),
            Step::Count { modulus } => line(format!("v += 7 * __syncthreads_count(v % {modulus} == 0);")),
            Step::Repeat { times, body } => {
                line(format!("for (int i = 0; i < {times}; i++) {{"));
                body.iter().for_each(|step| step.write(text));
                text.push_str("    }\n");
            }
        }
    }

    fn apply(&self, v: &mut [u32]) {
        let before = v.to_vec();
        let n = v.len();
        let exists = |lane: usize, thread: usize| thread / 32 * 32 + lane < n;
        // Returns the value of a lane of the thread's warp; zero if there is none.
        let of_lane = |lane: usize, thread: usize| {
            if exists(lane, thread) {
                before[thread / 32 * 32 + lane]
            } else {
                0
            }
        };
        let over_warp = |thread: usize, value: &dyn Fn(usize, u32) -> u32| -> u32 {
            let lanes = (0..32).filter(|&lane| exists(lane, thread));
            lanes.fold(0, |sum, lane| {
                sum.wrapping_add(value(lane, before[thread / 32 * 32 + lane]))
            })
        };
        match self {
            Step::Mix { factor } => {
                v.iter_mut()
                    .enumerate()
                    .for_each(|(t, v)| *v = v.wrapping_mul(*factor).wrapping_add(t as u32));
            }
            Step::Exchange { distance } => {
                v.iter_mut()
                    .enumerate()
                    .for_each(|(t, v)| *v ^= before[(t + *distance as usize) % n].wrapping_mul(3));
            }
            Step::Shuffle {
                how,
                delta,
                width,
                warps,
            } => {
                for (t, v) in v.iter_mut().enumerate().filter(|(t, _)| warps.holds(*t)) {
                    let (lane, delta, width) = (t % 32, *delta as usize, *width as usize);
                    let place = lane % width;
                    let source = match how {
                        Shuffle::Up if place >= delta => lane - delta,
                        Shuffle::Down | Shuffle::Called if place + delta < width => lane + delta,
                        Shuffle::Xor if (lane ^ delta) < lane - place + width => lane ^ delta,
                        _ => lane,
                    };
                    *v = v.wrapping_add(of_lane(source, t));
                }
            }
            Step::PartialShuffle { lanes, xor } => {
                for (t, v) in v.iter_mut().enumerate().filter(|(t, _)| lanes >> (t % 32) & 1 == 1) {
                    let source = (t % 32) ^ *xor as usize;
                    let takes_part = lanes >> source & 1 == 1;
                    let read = if takes_part { of_lane(source, t) } else { 0 };
                    *v = v.wrapping_add(read.wrapping_mul(5));
                }
            }
            Step::Ballot { modulus } => {
                for (t, v) in v.iter_mut().enumerate() {
                    *v = v.wrapping_add(over_warp(t, &|lane, of| u32::from(of % modulus == 0) << lane));
                }
            }
            Step::Match { modulus } => {
                for (t, v) in v.iter_mut().enumerate() {
                    *v ^= over_warp(t, &|lane, of| u32::from(of % modulus == before[t] % modulus) << lane);
                }
            }
            Step::Reduce => {
                for (t, v) in v.iter_mut().enumerate() {
                    *v = v.wrapping_add(over_warp(t, &|_, of| of) >> 3);
                }
            }
            Step::Count { modulus } => {
                let count = before.iter().filter(|&&v| v % modulus == 0).count() as u32;
                v.iter_mut().for_each(|v| *v = v.wrapping_add(7 * count));
            }
            Step::Repeat { times, body } => {
                for _ in 0..*times {
                    body.iter().for_each(|step| step.apply(v));
                }
            }
        }
    }
}

/// A kernel: steps of all threads, then an exit of some threads.
#[derive(Debug)]
struct Program {
    steps: Vec<Step>,
    /// The lanes that remain for a last exchange within their warp.
    stay: u32,
}

impl Program {
    fn random(rng: &mut Rng) -> Program {
        Program {
            steps: (0..rng.usize(1..7)).map(|_| Step::random(rng, 0)).collect(),
            stay: rng.u32(1..),
        }
    }

    fn text(&self, name: &str) -> String {
        let mut text = format!(
            "__global__ void {name}(unsigned *out) {{\n    __shared__ unsigned s[1024];\n\
             \x20   unsigned n = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;\n\
             \x20   unsigned lane = t % 32, warp = t / 32, v = blockIdx.x * 77 + t;\n"
        );
        self.steps.iter().for_each(|step| step.write(&mut text));
        let stay = self.stay;
        write!(
            text,
            "    out[blockIdx.x * n + t] = v;\n    if (!({stay}u >> lane & 1)) return;\n"
        )
        .expect("a string");
        writeln!(
            text,
            "    out[blockIdx.x * n + t] = v + __reduce_add_sync({stay}u, v);\n}}"
        )
        .expect("a string");
        text
    }

    fn expected(&self, blocks: u32, n: u32) -> Vec<u32> {
        let mut all = Vec::new();
        for block in 0..blocks {
            let mut v: Vec<u32> = (0..n).map(|t| block * 77 + t).collect();
            self.steps.iter().for_each(|step| step.apply(&mut v));
            for warp in v.chunks_mut(32) {
                let stays = |lane: usize| self.stay >> lane & 1 == 1;
                let staying = warp.iter().enumerate().filter(|(lane, _)| stays(*lane));
                let sum = staying.fold(0u32, |sum, (_, &v)| sum.wrapping_add(v));
                for (_, v) in warp.iter_mut().enumerate().filter(|(lane, _)| stays(*lane)) {
                    *v = v.wrapping_add(sum);
                }
            }
            all.extend(v);
        }
        all
    }
}

#[test]
fn random_kernels_agree_with_a_model_in_every_shape_and_order() {
    for seed in 0..4 {
        let mut rng = Rng::with_seed(seed);
        let programs: Vec<Program> = (0..10).map(|_| Program::random(&mut rng)).collect();
        let names: Vec<String> = (0..programs.len()).map(|number| format!("k{number}")).collect();
        let texts: Vec<String> = programs
            .iter()
            .zip(&names)
            .map(|(program, name)| program.text(name))
            .collect();
        let module = build(
            &format!("{PRELUDE}{}", texts.concat()),
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        let module = module.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let pools = [pool(1), pool(2), permuted(seed)];
        for (program, name) in programs.iter().zip(&names) {
            let kernel = module.kernel(name).expect("the kernel is exported");
            for n in BLOCKS {
                let blocks = rng.u32(1..10);
                let rows = if n % 4 == 0 { 4 } else { 1 };
                let shape = LaunchShape {
                    grid: [blocks, 1, 1],
                    block: [n / rows, rows, 1],
                    dynamic_shared: 0,
                };
                let expected = program.expected(blocks, n);
                for pool in &pools {
                    let mut out = vec![0u32; expected.len()];
                    let outcome = launch(pool, kernel, &shape, &[address(&mut out)]);
                    assert_eq!(
                        outcome,
                        Ok(()),
                        "seed {seed}, {name}, block of {n}:\n{}",
                        program.text(name)
                    );
                    assert!(
                        out == expected,
                        "seed {seed}, {name}, block of {n}:\n{}",
                        program.text(name)
                    );
                }
            }
        }
    }
}
