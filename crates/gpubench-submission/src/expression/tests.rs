use proptest::prelude::*;

use super::*;

/// Names of a case.
struct Case;

impl Names for Case {
    fn value(&self, name: &str) -> Option<Value> {
        Some(match name {
            "n" => Value::Integer(1000),
            "big" => Value::Integer(i128::from(i64::MAX)),
            "matrix.len" => Value::Integer(48),
            "mode" => Value::Text("fast".to_owned()),
            "eps" => Value::Float(1e-5),
            "causal" => Value::Bool(true),
            _ => return None,
        })
    }

    fn known(&self) -> Vec<String> {
        ["n", "big", "matrix.len", "mode", "eps", "causal"]
            .map(str::to_owned)
            .to_vec()
    }
}

fn value(text: &str) -> Result<Value, String> {
    let evaluated = Expression::parse(text).and_then(|expression| expression.evaluate(&Case));
    evaluated.map_err(|error| format!("{}: {error}", error.at))
}

fn number(text: &str) -> i128 {
    match value(text) {
        Ok(Value::Integer(integer)) => integer,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn arithmetic_has_the_usual_order() {
    for (text, expected) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("100 / 7 % 4", 2),
        ("-n + 1", -999),
        ("- -2", 2),
        ("0xff + 1_000", 1255),
        ("ceil_div(n, 256)", 4),
        ("ceil_div(0, 256)", 0),
        ("min(n, 7) + max(1, 2)", 9),
        ("next_power_of_two(n)", 1024),
        ("next_power_of_two(0)", 1),
        ("matrix.len / 4", 12),
        ("if(n > 512, 8, 4)", 8),
        ("if(mode == 'fast', 1, 2)", 1),
        ("if(mode != \"fast\", 1, 2)", 2),
        ("if(causal, n, 0)", 1000),
        ("big * 2", 2 * i128::from(i64::MAX)),
    ] {
        assert_eq!(number(text), expected, "{text}");
    }
    assert_eq!(number("if(n == 0, 1 / 0, 2)"), 2, "the other branch is not evaluated");
}

#[test]
fn a_comparison_is_a_truth_value() {
    for (text, expected) in [
        ("1 < 2", true),
        ("2 <= 1", false),
        ("1 + 1 >= 2", true),
        ("true == false", false),
    ] {
        assert_eq!(value(text), Ok(Value::Bool(expected)), "{text}");
    }
}

#[test]
fn a_name_alone_has_any_value() {
    assert_eq!(value("eps"), Ok(Value::Float(1e-5)));
    assert_eq!(value("mode"), Ok(Value::Text("fast".to_owned())));
    assert_eq!(Expression::parse(" n ").unwrap().as_name(), Some("n"));
    assert_eq!(Expression::parse("n + 1").unwrap().as_name(), None);
    assert!(Expression::parse("-1").unwrap().is_literal() && !Expression::parse("n").unwrap().is_literal());
}

#[test]
fn errors_name_the_character_and_what_is_wrong() {
    let errors: Vec<String> = [
        "",
        "1 +",
        "1 2",
        "ceil_div(n, )",
        "ceil_div(n)",
        "ceildiv(n, 2)",
        "(1",
        "nn + 1",
        "matrix.size",
        "n.",
        "12ab",
        "340282366920938463463374607431768211456",
        "n $ 2",
        "'open",
        "n / 0",
        "n % 0",
        "ceil_div(n, 0)",
        "ceil_div(0 - 1, 2)",
        "next_power_of_two(-1)",
        "eps * 2",
        "mode + 1",
        "1 < mode",
        "mode < 'x'",
        "eps == 1",
        "if(n, 1, 2)",
        "1 < 2 < 3",
        "big * big * big",
        "n; rm",
    ]
    .into_iter()
    .map(|text| format!("{text}  =>  {}", value(text).expect_err(text)))
    .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn an_expression_has_a_largest_length_and_depth() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(number(&nested(DEEPEST - 1)), 1);
    assert!(value(&nested(DEEPEST)).unwrap_err().contains("inside of each other"));
    assert!(value(&"-".repeat(50)).unwrap_err().contains("inside of each other"));
    assert!(value(&"if(".repeat(60)).unwrap_err().contains("inside of each other"));
    assert_eq!(number(&format!("1{}", "+1".repeat(99))), 100);
    assert!(
        value(&format!("1{}", "+1".repeat(100)))
            .unwrap_err()
            .contains("200 numbers")
    );
    assert!(
        value(&"1".repeat(LONGEST + 1))
            .unwrap_err()
            .contains("at most 1024 bytes")
    );
}

/// An expression of the model, whose value is computed without the parser.
#[derive(Clone, Debug)]
enum Model {
    Number(u32),
    Name,
    Binary(&'static str, Box<Model>, Box<Model>),
    Call(&'static str, Box<Model>, Box<Model>),
    If(Box<Model>, Box<Model>),
}

impl Model {
    fn written(&self) -> String {
        match self {
            Model::Number(number) => number.to_string(),
            Model::Name => "n".to_owned(),
            Model::Binary(mark, left, right) => format!("({} {mark}{})", left.written(), right.written()),
            Model::Call(name, left, right) => format!("{name}({},{} )", left.written(), right.written()),
            Model::If(left, right) => {
                format!(
                    "if({} < {}, {}, {})",
                    left.written(),
                    right.written(),
                    left.written(),
                    right.written()
                )
            }
        }
    }

    /// The value, if there is one.
    fn value(&self) -> Option<i128> {
        let pair = |left: &Model, right: &Model| Some((left.value()?, right.value()?));
        match self {
            Model::Number(number) => Some(i128::from(*number)),
            Model::Name => Some(1000),
            Model::Binary(mark, left, right) => {
                let (left, right) = pair(left, right)?;
                match *mark {
                    "+" => left.checked_add(right),
                    "-" => left.checked_sub(right),
                    "*" => left.checked_mul(right),
                    "/" => left.checked_div(right),
                    _ => left.checked_rem(right),
                }
            }
            Model::Call(name, left, right) => {
                let (left, right) = pair(left, right)?;
                match *name {
                    "min" => Some(left.min(right)),
                    "max" => Some(left.max(right)),
                    _ if left < 0 || right <= 0 => None,
                    _ => Some((left + right - 1) / right),
                }
            }
            Model::If(left, right) => pair(left, right).map(|(left, right)| left.min(right)),
        }
    }
}

fn model() -> impl Strategy<Value = Model> {
    let leaf = prop_oneof![(0..10_000_u32).prop_map(Model::Number), Just(Model::Name)];
    leaf.prop_recursive(4, 16, 2, |inner| {
        let binary = (
            prop::sample::select(vec!["+", "-", "*", "/", "%"]),
            inner.clone(),
            inner.clone(),
        );
        let call = (
            prop::sample::select(vec!["min", "max", "ceil_div"]),
            inner.clone(),
            inner.clone(),
        );
        prop_oneof![
            binary.prop_map(|(mark, left, right)| Model::Binary(mark, left.into(), right.into())),
            call.prop_map(|(name, left, right)| Model::Call(name, left.into(), right.into())),
            (inner.clone(), inner).prop_map(|(left, right)| Model::If(left.into(), right.into())),
        ]
    })
}

proptest! {
    #[test]
    fn an_expression_has_the_value_of_its_model(model in model()) {
        let written = model.written();
        prop_assume!(Expression::parse(&written) != Err(error(0, Problem::TooLong)));
        let found = value(&written).ok();
        prop_assert_eq!(found, model.value().map(Value::Integer), "{}", written);
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "[ -~µ\u{202e}]{0,80}") {
        if let Err(error) = Expression::parse(&text) {
            prop_assert!(error.at <= text.chars().count());
        }
    }

    #[test]
    fn any_words_are_evaluated_without_a_panic(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "n", "eps", "mode", "causal", "matrix.len", "1", "0", "9223372036854775807", "+", "-", "*", "/", "%",
                "(", ")", ",", "==", "<", "ceil_div(", "if(", "min(", "next_power_of_two(",
            ]),
            0..24,
        ),
    ) {
        let _ = value(&words.join(" "));
    }
}
