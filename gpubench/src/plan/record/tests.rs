use super::*;
use crate::catalog::{Params, Provider, Role};
use crate::plan::rules::check_tensor;

fn field(name: &str, offset: u64, dtype: DType, count: Option<u64>) -> Field {
    Field {
        name: name.to_owned(),
        offset,
        dtype,
        count,
        tolerance: Tolerance::Exact,
    }
}

/// Structs of 8 bytes: a float and an integer.
fn hits() -> Tensor {
    Tensor {
        name: "hits".to_owned(),
        dtype: DType::U8,
        shape: vec![4, 8],
        role: Role::Output,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: Some(Box::new(Record {
            name: "Hit".to_owned(),
            fields: vec![field("value", 0, DType::F32, None), field("index", 4, DType::U32, None)],
        })),
    }
}

fn refused(change: impl FnOnce(&mut Tensor)) -> String {
    let mut tensor = hits();
    change(&mut tensor);
    check_tensor(&tensor).unwrap_err().to_string()
}

fn with_fields(fields: Vec<Field>) -> String {
    refused(|tensor| tensor.record.as_mut().unwrap().fields = fields)
}

#[test]
fn a_layout_is_accepted_with_and_without_padding() {
    check_tensor(&hits()).unwrap();
    let mut padded = hits();
    padded.shape = vec![2, 3, 16];
    check_tensor(&padded).unwrap();
    assert_eq!((padded.items(), padded.item_bytes(), padded.bytes()), (6, 16, 96));
    padded.record.as_mut().unwrap().fields = vec![field("x", 4, DType::F16, Some(6))];
    check_tensor(&padded).unwrap();
}

#[test]
fn a_layout_of_a_hostile_catalog_is_refused() {
    let overlapping = vec![field("a", 0, DType::F32, None), field("b", 2, DType::U32, None)];
    assert!(with_fields(overlapping).contains("overlaps"));
    let unordered = vec![field("a", 4, DType::F32, None), field("b", 0, DType::U32, None)];
    assert!(with_fields(unordered).contains("overlaps"));
    for outside in [
        field("a", 8, DType::U8, None),
        field("a", 5, DType::U32, None),
        field("a", 0, DType::U16, Some(5)),
        field("a", 0, DType::U16, Some(1 << 63)),
        field("a", u64::MAX, DType::U8, None),
        field("a", 1, DType::U8, Some(u64::MAX)),
    ] {
        assert!(with_fields(vec![outside]).contains("ends after"));
    }
    assert!(with_fields(vec![field("a", 0, DType::U8, Some(0))]).contains("without elements"));
    assert!(with_fields(Vec::new()).contains("1 to 64 fields"));
    let many = (0..1000).map(|offset| field(&format!("f{offset}"), offset, DType::U8, None));
    let many: Vec<Field> = many.collect();
    let message = refused(|tensor| {
        tensor.shape = vec![4, 1000];
        tensor.record.as_mut().unwrap().fields = many;
    });
    assert!(message.contains("has 1000"), "{message}");
    let twice = vec![field("a", 0, DType::U8, None), field("a", 1, DType::U8, None)];
    assert!(with_fields(twice).contains("two fields are named"));
    let mut wide = field("a", 0, DType::F32, None);
    wide.tolerance = Tolerance::Close {
        rtol: f64::NAN,
        atol: 0.0,
    };
    assert!(with_fields(vec![wide.clone()]).contains("finite"));
    wide.tolerance = Tolerance::ByCheck;
    assert!(with_fields(vec![wide]).contains("no check"));
}

#[test]
fn the_bytes_of_structs_have_a_size() {
    for shape in [vec![], vec![4, 0], vec![0], vec![1, (1 << 20) + 1]] {
        let message = refused(|tensor| tensor.shape = shape.clone());
        assert!(message.contains("bytes"), "{message}");
    }
    assert!(refused(|tensor| tensor.shape = vec![1 << 60, 8]).contains("memory"));
    assert!(refused(|tensor| tensor.dtype = DType::F32).contains("bytes"));
    let close = Tolerance::Close { rtol: 0.5, atol: 0.0 };
    assert!(refused(|tensor| tensor.tolerance = close).contains("bytes"));
}

#[test]
fn structs_are_filled_by_code() {
    for fill in [Fill::Bits, Fill::Integers { low: 0, high: 2 }] {
        let message = refused(|tensor| (tensor.role, tensor.fill) = (Role::Input, fill));
        assert!(message.contains("(hint: fill them with `ByCpu`"), "{message}");
    }
}

#[test]
fn a_field_is_a_tensor_of_its_numbers() {
    let mut tensor = hits();
    tensor.shape = vec![4, 20];
    tensor.record.as_mut().unwrap().fields =
        vec![field("value", 0, DType::F32, None), field("at", 8, DType::U16, Some(3))];
    let [value, at] = [0, 1].map(|part| tensor.part(part).unwrap());
    assert_eq!(
        (value.name.as_str(), &*value.shape, value.dtype),
        ("hits[].value", &[4][..], DType::F32)
    );
    assert_eq!(
        (at.name.as_str(), &*at.shape, at.bytes()),
        ("hits[].at[]", &[4, 3][..], 24)
    );
    assert!(tensor.part(2).is_none());
    let rows = tensor.rows(1).unwrap();
    assert_eq!((rows.start, rows.bytes, rows.pitch, rows.count), (8, 6, 20, 4));
}

#[test]
fn checks_and_commands_do_not_know_structs() {
    let provider = Reference::Provider(Box::new(Provider {
        command: Vec::new(),
        folder: String::new(),
        params: Params::new(),
    }));
    for reference in [Reference::Checked, provider] {
        let refused = check_reference_of_structs(&reference, &[hits()])
            .unwrap_err()
            .to_string();
        assert!(refused.contains("`Hit`") && refused.contains("hint"), "{refused}");
    }
    check_reference_of_structs(&Reference::Author, &[hits()]).unwrap();
}
