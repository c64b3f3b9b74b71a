//! The records of `--message-format json`.

use serde_json::Value;

/// The records of a run in order.
#[derive(Clone, Debug, Default)]
pub struct Records(Vec<Value>);

impl Records {
    /// Reads one object a line.
    ///
    /// # Panics
    /// When a line is none.
    pub fn parse(lines: &str) -> Records {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the line `{line}`"));
        Records(lines.lines().map(parse).collect())
    }

    /// All of them.
    pub fn all(&self) -> &[Value] {
        &self.0
    }

    /// Those with a reason.
    pub fn with_reason(&self, reason: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |record| record["reason"] == reason)
    }

    /// The only one with a reason.
    ///
    /// # Panics
    /// When there is none, or another.
    pub fn the(&self, reason: &str) -> &Value {
        let found: Vec<&Value> = self.with_reason(reason).collect();
        assert_eq!(found.len(), 1, "records with the reason `{reason}`: {found:#?}");
        found[0]
    }

    /// The results.
    pub fn results(&self) -> impl Iterator<Item = &Value> {
        self.with_reason("benchmark-complete")
    }

    /// The result of the case with this name, or of the benchmark where it has only one.
    ///
    /// # Panics
    /// When there is no such result, or another.
    pub fn result(&self, name: &str) -> &Value {
        let found: Vec<&Value> = self
            .results()
            .filter(|result| result["case"] == name || result["benchmark"] == name)
            .collect();
        assert_eq!(found.len(), 1, "results of `{name}`: {found:#?}");
        found[0]
    }

    /// Looks at a case's verdict and cause, and at what its message must say.
    ///
    /// # Panics
    /// When one of them is another.
    #[track_caller]
    pub fn assert_ends(&self, benchmark: &str, verdict: &str, cause: &str, words: &[&str]) {
        let result = self.result(benchmark);
        let message = result["message"].as_str().unwrap_or_default();
        let told = format!("{} / {}: {message}", result["verdict"], result["cause"]);
        assert_eq!(
            (&result["verdict"], &result["cause"]),
            (&Value::from(verdict), &Value::from(cause)),
            "{told}"
        );
        for word in words {
            assert!(message.contains(word), "`{word}` is not in {told}");
        }
    }
}

/// A test for each benchmark: its name, what it ends in, and words of its message. The tests look
/// at what the function `records` of their file gives.
#[macro_export]
macro_rules! ends {
    ($($(#[$attribute:meta])* $test:ident: $benchmark:literal is $verdict:literal, $cause:literal $(, $word:literal)*;)*) => {$(
        $(#[$attribute])*
        #[test]
        fn $test() {
            records().assert_ends($benchmark, $verdict, $cause, &[$($word),*]);
        }
    )*};
}
