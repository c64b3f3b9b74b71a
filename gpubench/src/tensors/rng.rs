//! The random number generator of CPU generators.

/// A random number generator for [`Tensors::generate`](super::Tensors::generate): xoshiro256++
/// seeded with SplitMix64.
///
/// The same seed gives the same numbers on every machine and in every version of this crate. Both
/// algorithms are by Sebastiano Vigna (xoshiro with David Blackman) and in the public domain:
/// <https://prng.di.unimi.it>. Not for cryptography.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Returns a generator with this seed.
    pub fn new(seed: u64) -> Rng {
        let mut state = seed;
        Rng {
            state: std::array::from_fn(|_| split_mix(&mut state)),
        }
    }

    /// Returns a uniformly distributed `u64`.
    pub fn next_u64(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[0].wrapping_add(state[3]).rotate_left(23).wrapping_add(state[0]);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// Returns a uniformly distributed `u32`.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Returns a uniformly distributed number below `bound`.
    ///
    /// # Panics
    /// Panics if `bound` is zero.
    #[track_caller]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below zero");
        // Lemire's method: the high word of a product, redrawn where it would bias the result.
        let reject_below = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= reject_below {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a uniformly distributed index below `len`.
    ///
    /// # Panics
    /// Panics if `len` is zero.
    #[track_caller]
    pub fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Returns a number uniformly distributed over `[0, 1)`, a multiple of 2^-53.
    pub fn f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// Returns a number uniformly distributed over `[0, 1)`, a multiple of 2^-24.
    pub fn f32(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 * (1.0 / 16_777_216.0)
    }

    /// Returns a number uniformly distributed over `[low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        loop {
            let value = low + (high - low) * self.f64();
            // Rounding can reach the upper bound.
            if value < high || low >= high {
                return value;
            }
        }
    }

    /// Returns a normally distributed number with mean 0 and standard deviation 1, by the
    /// Box-Muller method.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.f64()).cos()
    }

    /// Shuffles the elements. Every order is equally likely.
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for last in (1..elements.len()).rev() {
            let other = self.index(last + 1);
            elements.swap(last, other);
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Rng, split_mix};
    use proptest::prelude::*;

    #[test]
    fn split_mix_gives_its_published_numbers() {
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn xoshiro_gives_its_published_numbers() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205
            ]
        );
    }

    #[test]
    fn normal_numbers_have_the_moments_of_their_distribution() {
        let mut rng = Rng::new(7);
        let numbers: Vec<f64> = (0..100_000).map(|_| rng.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / numbers.len() as f64 - mean * mean;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    proptest! {
        #[test]
        fn numbers_stay_below_their_bound(seed: u64, bound in 1u64..) {
            let mut rng = Rng::new(seed);
            prop_assert!(rng.below(bound) < bound);
            prop_assert!((0.0..1.0).contains(&rng.f64()));
            prop_assert!((0.0..1.0).contains(&rng.f32()));
            prop_assert!((-3.0..5.0).contains(&rng.uniform(-3.0, 5.0)));
        }

        #[test]
        fn shuffling_keeps_every_element(seed: u64, len in 0usize..100) {
            let mut elements: Vec<usize> = (0..len).collect();
            Rng::new(seed).shuffle(&mut elements);
            elements.sort_unstable();
            prop_assert_eq!(elements, (0..len).collect::<Vec<_>>());
        }
    }
}
