//! What can be wrong with a problem.

/// Declares the rules once: for names, for the reference and for programs.
macro_rules! rules {
    ($($(#[doc = $line:literal])+ $variant:ident = $name:literal, $hint:literal;)+) => {
        /// A rule that a problem can break. `allow(..)` in an attribute accepts it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $line])+ $variant,)+
        }

        impl Rule {
            /// Every rule, the gravest first.
            pub const ALL: &[Rule] = &[$(Rule::$variant),+];

            /// Returns the name, as `allow(..)` has it.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)+
                }
            }

            /// Returns the meaning: the doc comment.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Rule::$variant => concat!($($line),+).trim_start(),)+
                }
            }

            /// Returns what an author can do.
            pub fn hint(self) -> &'static str {
                match self {
                    $(Rule::$variant => $hint,)+
                }
            }
        }
    };
}

rules! {
    /// The reference gives NaN or infinity, which tells little about a kernel.
    NotFinite = "not_finite", "choose inputs with finite answers, or correct the reference";
    /// Any finite answer passes.
    AnyAnswer = "any_answer", "tighten the tolerance";
    /// NaN passes where numbers are expected.
    NotANumber = "nan_passes", "tighten the tolerance";
    /// An output of zeros passes.
    Zeros = "zeros_pass", "tighten the tolerance, or choose inputs with larger answers";
    /// An output of ones passes.
    Ones = "ones_pass", "tighten the tolerance, or choose inputs with other answers";
    /// A constant passes: the mean of the answers to other inputs, or without a reference 0, 1, 2,
    /// and so on.
    Constant = "constant_passes", "tighten the tolerance, or choose inputs that change the answer more";
    /// The answer to other inputs passes.
    Stale = "stale_passes", "tighten the tolerance, or choose inputs that change the answer more";
    /// Random numbers with the mean and the deviation of the answers pass.
    Noise = "noise_passes", "tighten the tolerance";
    /// A copy of an input passes.
    InputCopy = "input_copy_passes", "tighten the tolerance, or choose inputs that the problem changes more";
    /// The right elements in other places pass.
    Permutation = "permutation_passes", "tighten the tolerance, or choose inputs with answers that differ more";
    /// An answer with one wrong element passes, or with one element twice.
    OneWrongElement = "one_wrong_element_passes", "tighten the tolerance";
    /// A part of the output may be zeros.
    PartialZeros = "partial_zeros_pass", "choose inputs with answers that do not fade away, or a relative tolerance";
    /// A simple function of each input element passes, with constants from another call.
    SimpleFunction = "simple_function_passes", "tighten the tolerance, or choose inputs of different sizes";
    /// The answer hardly depends on an input, so a kernel need not read it.
    UnreadInput = "unread_input", "remove the input, or choose values that change the answer";
    /// Inputs rounded to TF32, fp16 or bf16 pass, so a kernel may compute with less precision.
    RoundedInputs = "rounded_inputs", "tighten the tolerance, or write `allow(rounded_inputs)` if less precision is welcome";
    /// Right answers fail that were added up in another order.
    TooStrict = "too_strict", "widen the tolerance: `reduction = terms` derives one";
    /// A hidden case has the values of a public one, so it is left out.
    HiddenIsPublic = "hidden_is_public", "choose other values for `hidden(..)`, or `draw(..)`";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_every_rule() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/lint.md");
        let guide = std::fs::read_to_string(guide).expect("a guide");
        for rule in Rule::ALL {
            let row = format!("| `{}` | {} |", rule.name(), rule.describe());
            assert!(guide.contains(&row), "docs/guides/lint.md lacks: {row}");
        }
    }

    #[test]
    fn names_are_unique_and_descriptions_are_sentences() {
        let mut names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            let text = rule.describe();
            assert!(text.ends_with('.') && !text.contains("  "), "{text}");
            assert!(!rule.hint().ends_with('.'), "{}", rule.hint());
        }
    }
}
