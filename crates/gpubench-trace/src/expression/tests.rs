use proptest::prelude::*;

use super::*;

fn axes(name: &str) -> Option<u64> {
    match name {
        "batch" => Some(4),
        "seq_len" => Some(130),
        "zero" => Some(0),
        "huge" => Some(u64::MAX),
        _ => None,
    }
}

fn value(expression: &str) -> Result<i128, ExpressionError> {
    evaluate(expression, &axes)
}

#[test]
fn operators_mean_what_they_mean_in_python() {
    for (expression, expected) in [
        ("1 + 2 * 3 - 4", 3),
        ("(1 + 2) * 3", 9),
        ("-2 ** 2", -4),
        ("(-2) ** 2", 4),
        ("2 ** 3 ** 2", 512),
        ("2 ** -1 * 4", 2),
        ("- - +5", 5),
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("7 // -2", -4),
        ("-7 % 3", 2),
        ("7 % -3", -2),
        ("8 / 2", 4),
        ("7.5 // 2", 3),
        ("-7.5 // 2", -4),
        ("-7.5 % 2 * 2", 1),
        ("1e3", 1000),
        (".5 * 4", 2),
        ("2. * 3", 6),
        ("00", 0),
        ("batch * seq_len", 520),
        ("(seq_len + 63) // 64", 3),
        ("seq_len // 2 / 5", 13),
        ("zero ** 0", 1),
        ("huge + 1", 1 << 64),
        ("1 ** huge", 1),
        ("(0 - 1) ** huge", -1),
        ("0.0 ** 2", 0),
    ] {
        assert_eq!(value(expression), Ok(expected), "{expression}");
    }
}

#[test]
fn an_expression_without_a_value_is_refused_by_its_reason() {
    for (expression, expected) in [
        ("", "`the end` at byte 0: expected a number, a name or `(`"),
        ("1 +", "`the end` at byte 3: expected a number, a name or `(`"),
        ("(1", "`the end` at byte 2: expected an operator or `)`"),
        ("1 2", "`2` at byte 2: expected an operator or the end"),
        ("1 == 1", "`== 1` at byte 2: expected an operator or the end"),
        (
            "__import__('os')",
            "`'os')` at byte 11: expected a number, a name or an operator",
        ),
        ("batch.x", "`.x` at byte 5: expected a number, a name or an operator"),
        ("a[0]", "`[0]` at byte 1: expected a number, a name or an operator"),
        ("0x10", "`0x10` at byte 0: expected a decimal number"),
        ("1_000", "`1_000` at byte 0: expected a decimal number"),
        ("010", "`010` at byte 0: expected a decimal number"),
        ("3j", "`3j` at byte 0: expected a decimal number"),
        ("1e999", "`1e999` at byte 0: expected a decimal number"),
        ("1\u{1b}[2J", "expected a number, a name or an operator"),
        ("1\n+ 1", "expected a number, a name or an operator"),
        ("other", "there is no axis `other` before it"),
        ("1 // zero", "it divides by zero"),
        ("1 % 0.0", "it divides by zero"),
        ("zero ** -1", "it divides by zero"),
        ("huge ** 3", "a result of `**` is too large, or is not a real number"),
        ("2 ** huge", "a result of `**` is too large, or is not a real number"),
        (
            "huge * huge * huge",
            "a result of `*` is too large, or is not a real number",
        ),
        (
            "(0 - 8) ** 0.5",
            "a result of `**` is too large, or is not a real number",
        ),
        ("huge / 3", "a result of `/` is too large, or is not a real number"),
        ("seq_len / 4", "its value is 32.5, which is not an integer"),
    ] {
        let error = value(expression).expect_err(expression).to_string();
        assert!(error.contains(expected), "{expression}: {error}");
        assert!(!error.contains('\u{1b}'), "{error}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let deep = format!("{}1{}", "(".repeat(400), ")".repeat(400));
    let signs = format!("{}1", "-".repeat(900));
    let powers = format!("1{}", "**1".repeat(300));
    for expression in [deep, signs, powers] {
        let error = value(&expression).expect_err("it is too deep");
        assert!(matches!(error, ExpressionError::TooMuch { how: "deep", .. }), "{error}");
    }
    let error = value(&"1 + ".repeat(300)).expect_err("it is too long");
    assert!(matches!(error, ExpressionError::TooMuch { how: "long", .. }), "{error}");
    assert_eq!(value(&format!("1{}", "+1".repeat(500))), Ok(501));
}

#[test]
fn a_constraint_compares_two_expressions() {
    for (constraint, expected) in [
        ("batch * 2 == 8", true),
        ("batch != 4", false),
        ("seq_len % 128 < 2", false),
        ("seq_len <= 130", true),
        ("1 / 2 > 0", true),
        ("huge >= 1e30", false),
        ("4 >= 4.5", false),
        ("batch == 4.0", true),
        ("4.5 > batch", true),
        ("huge < 1e40", true),
        ("batch > 0 - 1e40", true),
        ("2 ** 126 + (2 ** 126 - 1) < 2.0 ** 127", true),
    ] {
        assert_eq!(holds(constraint, &axes), Ok(expected), "{constraint}");
    }
    assert!(holds("batch", &axes).is_err());
    assert!(holds("1 < 2 < 3", &axes).is_err());
    assert!(holds("len_indptr == kv_indptr.shape[0]", &axes).is_err());
}

/// An expression of integers, its text with all parentheses, and its value.
fn expressions() -> impl Strategy<Value = (String, Option<i128>)> {
    let leaf = (0_i128..1000).prop_map(|number| (number.to_string(), Some(number)));
    leaf.prop_recursive(5, 40, 2, |inner| {
        let operators = prop::sample::select(vec!["+", "-", "*", "//", "%"]);
        (inner.clone(), operators, inner).prop_map(|((left, one), operator, (right, other))| {
            let value = one.zip(other).and_then(|(one, other)| match operator {
                "+" => one.checked_add(other),
                "-" => one.checked_sub(other),
                "*" => one.checked_mul(other),
                // The definition of Python's operators, without division.
                _ if other == 0 => None,
                "//" => {
                    let quotient = one.div_euclid(other);
                    let exact = one.rem_euclid(other) == 0;
                    Some(if other > 0 || exact { quotient } else { quotient - 1 })
                }
                _ => {
                    let rest = one.rem_euclid(other);
                    Some(if other < 0 && rest != 0 { rest + other } else { rest })
                }
            });
            (format!("({left} {operator} {right})"), value)
        })
    })
}

proptest! {
    #[test]
    fn integers_are_exact_or_refused((text, expected) in expressions()) {
        prop_assert_eq!(value(&text).ok(), expected, "{}", text);
    }

    #[test]
    fn quotient_and_rest_belong_together(left in -1e6..1e6, right in -1e3..1e3) {
        let quotient = Number::binary("//", Number::Float(left), Number::Float(right));
        let rest = Number::binary("%", Number::Float(left), Number::Float(right));
        if let (Ok(Number::Float(quotient)), Ok(Number::Float(rest))) = (quotient, rest) {
            prop_assert!(rest == 0.0 || rest.signum() == right.signum());
            prop_assert!((quotient * right + rest - left).abs() <= 1e-9 * left.abs().max(1.0));
        }
    }

    #[test]
    fn any_text_has_a_value_or_an_error(text in "[0-9a-z+*/%() .<=-]{0,60}|\\PC{0,60}") {
        let _ = value(&text);
        let _ = holds(&text, &axes);
    }
}
