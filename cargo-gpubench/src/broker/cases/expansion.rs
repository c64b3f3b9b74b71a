//! Expansion of a benchmark's axes to its cases.

use std::collections::HashSet;

use gpubench::catalog::{Axis, Benchmark, DeviceKind, Params};

use super::{AxisOverride, CaseError, value_text};

/// Returns the axes of a benchmark on a kind of device. The device's axes replace axes of the same
/// name; the others follow.
pub(super) fn axes_on(benchmark: &Benchmark, device: DeviceKind) -> Vec<Axis> {
    let mut axes = benchmark.axes.clone();
    let of_device = benchmark.device_axes.iter().filter(|(kind, _)| *kind == device);
    for axis in of_device.flat_map(|(_, axes)| axes) {
        match axes.iter_mut().find(|declared| declared.name == axis.name) {
            Some(declared) => *declared = axis.clone(),
            None => axes.push(axis.clone()),
        }
    }
    axes
}

/// Replaces the values of the axes by those of the command line. Several overrides of an axis add
/// up.
///
/// # Errors
/// A value has the wrong type for its axis.
pub(super) fn override_axes(
    benchmark: &Benchmark,
    axes: &[Axis],
    overrides: &[AxisOverride],
) -> Result<Vec<Axis>, CaseError> {
    axes.iter()
        .map(|axis| override_axis(benchmark, axis, overrides))
        .collect()
}

fn override_axis(benchmark: &Benchmark, axis: &Axis, overrides: &[AxisOverride]) -> Result<Axis, CaseError> {
    let mut of_axis = overrides.iter().filter(|other| other.name == axis.name).peekable();
    if of_axis.peek().is_none() {
        return Ok(axis.clone());
    }
    let values: Result<Vec<_>, _> = of_axis.map(|other| other.values_for(axis)).collect();
    let values = values
        .map_err(|reason| CaseError::AxisValue {
            benchmark: benchmark.path.clone(),
            axis: axis.name.clone(),
            reason,
        })?
        .concat();
    Ok(Axis {
        name: axis.name.clone(),
        values,
    })
}

/// Returns every combination of values, the last axis fastest; `None` if there are more than
/// `most`.
///
/// A value that an axis lists twice counts once: its cases would have the same name.
pub(super) fn combinations(axes: &[Axis], most: usize) -> Option<Vec<Params>> {
    let mut all = vec![Params::new()];
    for axis in axes {
        let mut seen = HashSet::new();
        let values: Vec<_> = axis
            .values
            .iter()
            .filter(|value| seen.insert(value_text(value)))
            .collect();
        if all.len().checked_mul(values.len())? > most {
            return None;
        }
        all = all
            .iter()
            .flat_map(|params| {
                values.iter().map(move |value| {
                    let mut params = params.clone();
                    params.push((axis.name.clone(), (*value).clone()));
                    params
                })
            })
            .collect();
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{AxisValue, Selection};

    use super::*;

    fn axis(name: &str, values: &[i64]) -> Axis {
        Axis {
            name: name.to_owned(),
            values: values.iter().copied().map(AxisValue::Int).collect(),
        }
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
