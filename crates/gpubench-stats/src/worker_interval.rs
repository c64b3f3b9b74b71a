//! A 95 % confidence interval from the medians of fresh workers: of what other workers would have measured.

use super::interval::Interval;
use super::moments::Moments;
use super::student::student_quantile;

/// Student's 95 % interval of the mean of some workers' medians: mean ± t · s / √w with w - 1 degrees of freedom (Georges, Buytaert and Eeckhout, "Statistically rigorous Java
/// performance evaluation", OOPSLA 2007, section 3.2). `None` for fewer than two workers, of which there is no telling how much they differ, and where a median is not finite.
pub fn worker_interval(medians: &[f64]) -> Option<Interval> {
    let workers = medians.len() as f64;
    if !medians.iter().all(|median| median.is_finite()) {
        return None;
    }
    let moments = Moments::of(medians);
    let (mean, stddev) = (moments.mean()?, moments.stddev()?);
    let reach = student_quantile(0.95, workers - 1.0) * stddev / workers.sqrt();
    let interval = Interval {
        low: mean - reach,
        high: mean + reach,
    };
    (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap_median;

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Five values with mean 3 and standard deviation √2.5; t of 4 degrees of freedom is 2.776.
        let interval = worker_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let reach = 2.776 * 2.5f64.sqrt() / 5f64.sqrt();
        assert!((interval.low - (3.0 - reach)).abs() < 1e-3, "{interval:?}");
        assert!((interval.high - (3.0 + reach)).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn workers_that_agree_have_an_interval_without_width() {
        assert_eq!(worker_interval(&[7.0; 3]), Some(Interval { low: 7.0, high: 7.0 }));
    }

    #[test]
    fn one_worker_does_not_tell_how_much_workers_differ() {
        assert_eq!(worker_interval(&[]), None);
        assert_eq!(worker_interval(&[1.0]), None);
        assert_eq!(worker_interval(&[1.0, f64::NAN]), None);
        assert_eq!(worker_interval(&[f64::MAX, f64::MIN]), None);
    }

    /// How many of 400 seeded runs have intervals that hold the true time, by workers and by all samples together: five workers shifted by 2 %, with 20 samples each of 0.5 % noise.
    fn covered_of_400() -> (usize, usize) {
        let mut random = fastrand::Rng::with_seed(5);
        let mut normal = |stddev: f64| {
            let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
            stddev * radius * (std::f64::consts::TAU * random.f64()).cos()
        };
        let holds = |interval: Interval| interval.low <= 100.0 && 100.0 <= interval.high;
        let (mut by_workers, mut pooled) = (0, 0);
        for _ in 0..400 {
            let workers: Vec<Vec<f64>> = (0..5)
                .map(|_| {
                    let shift = normal(2.0);
                    (0..20).map(|_| 100.0 + shift + normal(0.5)).collect()
                })
                .collect();
            let medians: Vec<f64> = workers
                .iter()
                .filter_map(|samples| crate::interquartile_mean(samples))
                .collect();
            by_workers += usize::from(holds(worker_interval(&medians).unwrap()));
            pooled += usize::from(holds(bootstrap_median(&[&workers.concat()]).unwrap()));
        }
        (by_workers, pooled)
    }

    #[test]
    fn where_workers_differ_it_holds_the_truth_and_the_interval_of_all_samples_does_not() {
        let (by_workers, pooled) = covered_of_400();
        assert!((368..=396).contains(&by_workers), "{by_workers} of 400");
        assert!(pooled < 240, "{pooled} of 400");
    }
}
