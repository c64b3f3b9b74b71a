//! Peak rates of a GPU, from its clocks and widths.

use gpubench_contract::ArithmeticPeaks;

/// Returns the bandwidth in bytes per second of a memory clock in kHz, with two transfers per
/// cycle, over a bus of `bits` bits.
pub(super) fn peak_bandwidth(clock_khz: u32, bus_bits: u32) -> Option<f64> {
    let bandwidth = 2.0 * f64::from(clock_khz) * 1000.0 * f64::from(bus_bits) / 8.0;
    Some(bandwidth).filter(|bandwidth| *bandwidth > 0.0)
}

/// Fused multiply-adds per cycle of a multiprocessor; 0 if unsupported or unknown.
struct Widths {
    f64: u32,
    f32: u32,
    tf32: u32,
    f16: u32,
    bf16: u32,
    bits8: u32,
    bits4: u32,
}

const NONE: Widths = Widths {
    f64: 0,
    f32: 0,
    tf32: 0,
    f16: 0,
    bf16: 0,
    bits8: 0,
    bits4: 0,
};

/// Returns the widths of a compute capability, each that of the fastest units.
///
/// `f32`, and `f64` without tensor cores, are from the table "Throughput of Native Arithmetic
/// Instructions" of the CUDA C++ Programming Guide. The others are dense tensor-core rates from
/// NVIDIA's architecture papers and data sheets, divided by two, by the multiprocessors and by the
/// boost clock: Turing (TU102: 8 tensor cores of 64), A100 (312 TFLOPS of bf16 by 108 at 1.41 GHz),
/// GA102 and AD102 (A40: 150 by 84 at 1.74 GHz, L40S: 362 by 142 at 2.52 GHz), H100 (989 by 132 at
/// 1.83 GHz), B200 (2250 by 148 at 1.85 GHz), and GB202 (RTX 5090: 419 by 170 at 2.41 GHz). If
/// accumulation in single precision is slower, the faster rate is used.
fn widths(capability: u32) -> Widths {
    match capability {
        75 => Widths {
            f64: 2,
            f32: 64,
            f16: 512,
            bits8: 1024,
            ..NONE
        },
        80 => Widths {
            f64: 64,
            f32: 64,
            tf32: 512,
            f16: 1024,
            bf16: 1024,
            bits8: 2048,
            ..NONE
        },
        86 => Widths {
            f64: 2,
            f32: 128,
            tf32: 256,
            f16: 512,
            bf16: 512,
            bits8: 1024,
            ..NONE
        },
        87 => Widths { f32: 128, ..NONE },
        89 => Widths {
            f64: 2,
            f32: 128,
            tf32: 256,
            f16: 512,
            bf16: 512,
            bits8: 1024,
            ..NONE
        },
        90 => Widths {
            f64: 128,
            f32: 128,
            tf32: 1024,
            f16: 2048,
            bf16: 2048,
            bits8: 4096,
            ..NONE
        },
        100 => Widths {
            f64: 64,
            f32: 128,
            tf32: 2048,
            f16: 4096,
            bf16: 4096,
            bits8: 8192,
            bits4: 16384,
        },
        103 => Widths {
            f32: 128,
            tf32: 2048,
            f16: 4096,
            bf16: 4096,
            bits8: 8192,
            bits4: 24576,
            ..NONE
        },
        120 | 121 => Widths {
            f64: 2,
            f32: 128,
            tf32: 256,
            f16: 512,
            bf16: 512,
            bits8: 1024,
            bits4: 2048,
        },
        _ => NONE,
    }
}

/// Returns the operations per second of `multiprocessors` multiprocessors at a clock.
pub(super) fn arithmetic_peaks(capability: u32, multiprocessors: u32, clock_khz: u32) -> ArithmeticPeaks {
    let peak = |width: u32| {
        let rate = 2.0 * f64::from(width) * f64::from(multiprocessors) * f64::from(clock_khz) * 1000.0;
        Some(rate).filter(|rate| *rate > 0.0)
    };
    let Widths {
        f64,
        f32,
        tf32,
        f16,
        bf16,
        bits8,
        bits4,
    } = widths(capability);
    ArithmeticPeaks {
        f64: peak(f64),
        f32: peak(f32),
        tf32: peak(tf32),
        f16: peak(f16),
        bf16: peak(bf16),
        bits8: peak(bits8),
        bits4: peak(bits4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(peak: Option<f64>, data_sheet: f64) {
        let peak = peak.expect("it is known");
        assert!((peak / data_sheet - 1.0).abs() < 0.02, "{peak:e}, not {data_sheet:e}");
    }

    #[test]
    fn the_bandwidth_of_an_h200_is_that_of_its_data_sheet() {
        assert_close(peak_bandwidth(3_201_000, 6144), 4.9e12);
    }

    #[test]
    fn the_rates_are_those_of_the_data_sheets() {
        let h200 = arithmetic_peaks(90, 132, 1_980_000);
        assert_close(h200.f32, 67e12);
        assert_close(h200.f64, 67e12);
        // The data sheet assumes 1830 MHz for tensor cores.
        let tensor_cores = arithmetic_peaks(90, 132, 1_830_000);
        assert_close(tensor_cores.bf16, 989e12);
        assert_close(tensor_cores.f16, 989e12);
        assert_close(tensor_cores.tf32, 494e12);
        assert_close(tensor_cores.bits8, 1979e12);
        let a100 = arithmetic_peaks(80, 108, 1_410_000);
        assert_close(a100.f32, 19.5e12);
        assert_close(a100.f64, 19.5e12);
        assert_close(a100.tf32, 156e12);
        assert_close(a100.bf16, 312e12);
        assert_close(a100.bits8, 624e12);
        let l40s = arithmetic_peaks(89, 142, 2_520_000);
        assert_close(l40s.f32, 91.6e12);
        assert_close(l40s.bf16, 362e12);
        assert_close(l40s.tf32, 183e12);
        let rtx_5090 = arithmetic_peaks(120, 170, 2_407_000);
        assert_close(rtx_5090.f16, 419e12);
        assert_close(rtx_5090.bits4, 1676e12);
    }

    #[test]
    fn there_is_no_peak_without_clocks_or_for_an_unknown_gpu() {
        assert_eq!(peak_bandwidth(0, 6144), None);
        assert_eq!(arithmetic_peaks(90, 132, 0), ArithmeticPeaks::default());
        assert_eq!(arithmetic_peaks(200, 132, 1_980_000), ArithmeticPeaks::default());
        assert_eq!(arithmetic_peaks(75, 68, 1_545_000).bf16, None, "Turing has none");
    }
}
