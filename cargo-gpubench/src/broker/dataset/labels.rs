//! The names of workloads in the names of cases.

use std::collections::HashSet;

use gpubench::catalog::{Axis, AxisValue};
use gpubench_trace::{AxisKind, Definition, Workload};

/// Returns the axes of the cases: the workload, then the variable axes. A variable axis that a
/// workload has no value for is left out; the workload fails in its case.
pub(super) fn axes_of(definition: &Definition, workloads: &[&Workload]) -> Axis {
    let has_value = |axis: &str| workloads.iter().all(|workload| value(workload, axis).is_some());
    let variables: Vec<&str> = definition
        .axes
        .iter()
        .filter(|(name, axis)| axis.kind == AxisKind::Var && has_value(name))
        .map(|(name, _)| name)
        .collect();
    let mut label = "workload".to_owned();
    while variables.contains(&label.as_str()) {
        label.push('_');
    }
    let rows = workloads.iter().zip(labels(workloads)).map(|(workload, label)| {
        let values = variables.iter().filter_map(|axis| value(workload, axis));
        std::iter::once(AxisValue::Text(label)).chain(values).collect()
    });
    Axis {
        values: rows.collect(),
        names: std::iter::once(label)
            .chain(variables.iter().map(|&name| name.to_owned()))
            .collect(),
    }
}

fn value(workload: &Workload, axis: &str) -> Option<AxisValue> {
    let value = i64::try_from(*workload.axes.get(axis)?).ok()?;
    Some(AxisValue::Int(value))
}

/// Returns the name of each workload: of a UUID the first group, unless two have the same.
fn labels(workloads: &[&Workload]) -> Vec<String> {
    let short = |workload: &&Workload| first_group(&workload.uuid).unwrap_or(&workload.uuid).to_owned();
    let labels: Vec<String> = workloads.iter().map(short).collect();
    let different: HashSet<&String> = labels.iter().collect();
    if different.len() == labels.len() {
        labels
    } else {
        workloads.iter().map(|workload| workload.uuid.clone()).collect()
    }
}

fn first_group(uuid: &str) -> Option<&str> {
    let groups: Vec<&str> = uuid.split('-').collect();
    let is_hexadecimal = |group: &&str| group.bytes().all(|letter| letter.is_ascii_hexdigit());
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    (lengths == [8, 4, 4, 4, 12] && groups.iter().all(is_hexadecimal)).then(|| groups[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(uuid: &str, axes: &[(&str, u64)]) -> Workload {
        Workload {
            uuid: uuid.to_owned(),
            axes: axes.iter().copied().collect(),
            inputs: std::iter::empty::<(String, _)>().collect(),
            tolerance: None,
        }
    }

    fn names(workloads: &[Workload]) -> Vec<String> {
        labels(&workloads.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_workload_has_its_name_or_the_beginning_of_its_uuid() {
        let one = "0123abcd-0000-4000-8000-0123456789ab";
        let [named, other] = [workload("rows-256", &[]), workload(one, &[])];
        assert_eq!(names(&[named.clone(), other.clone()]), ["rows-256", "0123abcd"]);
        let same = workload("0123abcd-1111-4000-8000-0123456789ab", &[]);
        assert_eq!(names(&[other, same])[0], one);
    }

    #[test]
    fn an_axis_without_a_value_is_in_no_name() {
        let definition = Definition::parse(
            r#"{"name": "d", "op_type": "o", "axes": {"workload": {"type": "var"}, "n": {"type": "var"}},
                "inputs": {}, "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "r"}"#,
        );
        let whole = workload("a", &[("workload", 3), ("n", 4)]);
        let huge = workload("b", &[("workload", 3), ("n", u64::MAX)]);
        let axis = axes_of(&definition.unwrap(), &[&whole, &huge]);
        assert_eq!(axis.names, ["workload_", "workload"]);
        assert_eq!(axis.values[1], [AxisValue::Text("b".to_owned()), AxisValue::Int(3)]);
    }
}
