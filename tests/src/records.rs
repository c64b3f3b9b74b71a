//! Records of `--message-format json`.

use serde_json::Value;

/// The records of a run, in order.
#[derive(Clone, Debug, Default)]
pub struct Records(Vec<Value>);

impl Records {
    /// Parses one JSON object per line.
    ///
    /// # Panics
    /// If a line is not JSON.
    pub fn parse(lines: &str) -> Records {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the line `{line}`"));
        Records(lines.lines().map(parse).collect())
    }

    /// Returns all records.
    pub fn all(&self) -> &[Value] {
        &self.0
    }

    /// Returns the records with a reason.
    pub fn with_reason(&self, reason: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |record| record["reason"] == reason)
    }

    /// Returns the only record with a reason.
    ///
    /// # Panics
    /// If there is not exactly one.
    pub fn the(&self, reason: &str) -> &Value {
        let found: Vec<&Value> = self.with_reason(reason).collect();
        assert_eq!(found.len(), 1, "records with the reason `{reason}`: {found:#?}");
        found[0]
    }

    /// Returns the results.
    pub fn results(&self) -> impl Iterator<Item = &Value> {
        self.with_reason("benchmark-complete")
    }

    /// Returns the result of the case with this name, or of the only case of the benchmark with
    /// this name.
    ///
    /// # Panics
    /// If there is not exactly one.
    pub fn result(&self, name: &str) -> &Value {
        let found: Vec<&Value> = self
            .results()
            .filter(|result| result["case"] == name || result["benchmark"] == name)
            .collect();
        assert_eq!(found.len(), 1, "results of `{name}`: {found:#?}");
        found[0]
    }

    /// Asserts that a benchmark's output was not complete when its call returned. Timing decides
    /// which check finds that.
    ///
    /// # Panics
    /// If it ended otherwise.
    #[track_caller]
    pub fn assert_is_late(&self, benchmark: &str) {
        let result = self.result(benchmark);
        let verdict = result["verdict"].as_str().unwrap_or_default();
        assert!(
            ["late-write", "wrong-output"].contains(&verdict),
            "{benchmark}: {verdict}: {}",
            result["message"]
        );
    }

    /// Checks a case's verdict, its cause, and words of its message.
    ///
    /// # Panics
    /// If one of them differs.
    #[track_caller]
    pub fn assert_ends(&self, benchmark: &str, verdict: &str, cause: &str, words: &[&str]) {
        let result = self.result(benchmark);
        let message = result["message"].as_str().unwrap_or_default();
        let summary = format!("{} / {}: {message}", result["verdict"], result["cause"]);
        assert_eq!(
            (&result["verdict"], &result["cause"]),
            (&Value::from(verdict), &Value::from(cause)),
            "{summary}"
        );
        for word in words {
            assert!(message.contains(word), "`{word}` is not in {summary}");
        }
    }
}

/// Declares a test for each benchmark, with its verdict, its cause and words of its message. The
/// tests call the function `records` of their file.
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
