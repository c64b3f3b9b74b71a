//! Expansion of a benchmark's axes to its cases.

use std::collections::HashSet;

use gpubench::catalog::{Axis, Benchmark, DeviceKind, Params};

use super::{AxisOverride, CaseError, value_text};

/// Returns the axes of a benchmark on a kind of device. The device's axes replace axes of the same
/// names; the others follow. The author process has checked that they can.
pub(in crate::broker) fn axes_on(benchmark: &Benchmark, device: DeviceKind) -> Vec<Axis> {
    let of_device = benchmark.device_axes.iter().filter(|(kind, _)| *kind == device);
    let of_device: Vec<_> = of_device.flat_map(|(_, axes)| axes).cloned().collect();
    Axis::replaced(benchmark.axes.clone(), &of_device).unwrap_or_else(|_| benchmark.axes.clone())
}

/// Replaces the values of the axes by those of the command line. Several overrides of an axis add
/// up. If all axes of a group are overridden, their values are combined like those of other axes.
///
/// # Errors
/// A value has the wrong type for its axis, or only a part of a group is overridden.
pub(super) fn override_axes(
    benchmark: &Benchmark,
    axes: &[Axis],
    overrides: &[AxisOverride],
) -> Result<Vec<Axis>, CaseError> {
    let names = axes
        .iter()
        .flat_map(|axis| axis.names.iter().map(move |name| (axis, name)));
    let given: Result<Vec<_>, _> = names
        .filter_map(|(axis, name)| override_axis(benchmark, axis, name, overrides).transpose())
        .collect();
    Axis::replaced(axes.to_vec(), &given?).map_err(|part| CaseError::PartOfGroup {
        benchmark: benchmark.path.clone(),
        part,
    })
}

/// Returns the values of the command line for one axis, if there are any.
fn override_axis(
    benchmark: &Benchmark,
    axis: &Axis,
    name: &str,
    overrides: &[AxisOverride],
) -> Result<Option<Axis>, CaseError> {
    let declared: Vec<_> = axis.values_of(name).collect();
    let of_axis = overrides.iter().filter(|other| other.name == name);
    let values: Result<Vec<_>, _> = of_axis.map(|other| other.values_for(&declared)).collect();
    let values = values.map_err(|reason| CaseError::AxisValue {
        benchmark: benchmark.path.clone(),
        axis: name.to_owned(),
        reason,
    })?;
    Ok((!values.is_empty()).then(|| Axis::of(name, values.concat())))
}

/// Returns every combination of values, the last axis fastest; `None` if there are more than
/// `most`.
///
/// What an axis lists twice counts once: its cases would have the same name.
pub(in crate::broker) fn combinations(axes: &[Axis], most: usize) -> Option<Vec<Params>> {
    let mut all = vec![Params::new()];
    for axis in axes {
        let mut seen = HashSet::new();
        let values: Vec<_> = axis
            .values
            .iter()
            .filter(|values| seen.insert(values.iter().map(value_text).collect::<Vec<_>>()))
            .collect();
        if all.len().checked_mul(values.len())? > most {
            return None;
        }
        all = all
            .iter()
            .flat_map(|params| {
                values.iter().map(move |values| {
                    let named = axis.names.iter().cloned().zip(values.iter().cloned());
                    params.iter().cloned().chain(named).collect()
                })
            })
            .collect();
    }
    Some(all)
}

/// Returns the combination of the first values.
pub(super) fn first_combination(axes: &[Axis]) -> Params {
    let firsts = axes
        .iter()
        .filter_map(|axis| axis.values.first().map(|values| (axis, values)));
    let named = firsts.flat_map(|(axis, values)| axis.names.iter().cloned().zip(values.iter().cloned()));
    named.collect()
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{AxisValue, Selection};

    use super::*;

    fn axis(name: &str, values: &[i64]) -> Axis {
        Axis::of(name, values.iter().copied().map(AxisValue::Int).collect())
    }

    fn benchmark(axes: Vec<Axis>, device_axes: Vec<(DeviceKind, Vec<Axis>)>) -> Benchmark {
        Benchmark {
            library: "lib".to_owned(),
            path: "b".to_owned(),
            problem: "b".to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 1,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes,
            own_axes: Vec::new(),
            counters: Vec::new(),
            device_axes,
            settings: Vec::new(),
            own_library: None,
        }
    }

    #[test]
    fn a_device_replaces_axes_by_name_and_keeps_their_order() {
        let benchmark = benchmark(
            vec![axis("width", &[4096]), axis("height", &[4096])],
            vec![
                (DeviceKind::Cpu, vec![axis("height", &[64]), axis("depth", &[2])]),
                (DeviceKind::Cuda, vec![axis("width", &[1])]),
            ],
        );
        assert_eq!(
            axes_on(&benchmark, DeviceKind::Cpu),
            [axis("width", &[4096]), axis("height", &[64]), axis("depth", &[2])]
        );
        assert_eq!(
            axes_on(&benchmark, DeviceKind::Cuda),
            [axis("width", &[1]), axis("height", &[4096])]
        );
    }

    #[test]
    fn the_last_axis_runs_fastest() {
        let cases = combinations(&[axis("a", &[1, 2]), axis("b", &[3, 4])], 4).expect("four");
        let values: Vec<Vec<_>> = cases
            .iter()
            .map(|params| params.iter().map(|(_, value)| value_text(value)).collect())
            .collect();
        assert_eq!(values, [["1", "3"], ["1", "4"], ["2", "3"], ["2", "4"]]);
    }

    fn pairs(names: [&str; 2], values: &[[i64; 2]]) -> Axis {
        Axis {
            names: names.map(str::to_owned).to_vec(),
            values: values.iter().map(|pair| pair.map(AxisValue::Int).to_vec()).collect(),
        }
    }

    #[test]
    fn a_group_is_combined_as_a_whole_and_a_repeated_tuple_counts_once() {
        let group = pairs(["m", "n"], &[[1, 2], [3, 4], [1, 2]]);
        let cases = combinations(&[group, axis("k", &[5, 6])], 4).expect("four");
        let named = |params: &Params| {
            let pairs = params.iter().map(|(name, value)| format!("{name}={value}"));
            pairs.collect::<Vec<_>>().join(",")
        };
        assert_eq!(
            cases.iter().map(named).collect::<Vec<_>>(),
            ["m=1,n=2,k=5", "m=1,n=2,k=6", "m=3,n=4,k=5", "m=3,n=4,k=6"]
        );
    }

    #[test]
    fn overrides_of_all_axes_of_a_group_are_combined_and_of_some_are_refused() {
        let axes = [pairs(["m", "n"], &[[1, 2], [3, 4]]), axis("k", &[5])];
        let overridden = |texts: &[&str]| {
            let overrides: Vec<_> = texts.iter().map(|text| text.parse().expect("an override")).collect();
            override_axes(&benchmark(vec![], vec![]), &axes, &overrides)
        };
        assert_eq!(
            overridden(&["n=7,8", "m=1", "k=6"]),
            Ok(vec![axis("m", &[1]), axis("n", &[7, 8]), axis("k", &[6])])
        );
        assert_eq!(overridden(&["k=6"]), Ok(vec![axes[0].clone(), axis("k", &[6])]));
        let error = overridden(&["m=1"]).expect_err("a part of a group");
        assert_eq!(
            error.to_string(),
            "`b`: the values of `m`, `n` belong together, and there are none for `n`"
        );
        assert_eq!(
            gpubench_diagnostic::Expected::hint(&error).as_deref(),
            Some("add `--axis n=..`, or choose among the cases with a filter such as `m=1`")
        );
    }

    #[test]
    fn no_axes_make_one_case() {
        assert_eq!(combinations(&[], 1), Some(vec![Params::new()]));
    }

    #[test]
    fn a_repeated_value_counts_once() {
        assert_eq!(
            combinations(&[axis("a", &[1, 1])], 10).map(|cases| cases.len()),
            Some(1)
        );
    }

    #[test]
    fn too_many_combinations_are_refused() {
        assert_eq!(combinations(&[axis("a", &[1, 2]), axis("b", &[1, 2])], 3), None);
    }

    #[test]
    fn repeated_overrides_add_up() {
        let overrides = ["a=5", "b=1", "a=6"].map(|text| text.parse().expect("an override"));
        assert_eq!(
            override_axes(&benchmark(vec![], vec![]), &[axis("a", &[1])], &overrides),
            Ok(vec![axis("a", &[5, 6])])
        );
    }
}
