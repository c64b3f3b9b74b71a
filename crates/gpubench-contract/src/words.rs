//! Enums whose variants are words of the schema.

/// Defines an enum whose words JSON, tables and tests share.
macro_rules! words {
    (
        $(#[$outer:meta])*
        pub enum $name:ident {
            $( $(#[doc = $line:literal])+ $variant:ident = $word:literal, )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
        pub enum $name {
            $( $(#[doc = $line])+ #[serde(rename = $word)] $variant, )+
        }

        impl $name {
            /// Every variant, in the order of declaration.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the word in the records.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( $name::$variant => $word, )+
                }
            }

            /// Returns the meaning of the word: its doc comment.
            pub fn describe(self) -> &'static str {
                match self {
                    $( $name::$variant => concat!($($line),+).trim_start(), )+
                }
            }
        }
    };
}

/// Implements `Display` with the words of the schema.
macro_rules! shown_by_word {
    ($($name:ident),+) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        })+
    };
}

pub(crate) use shown_by_word;
pub(crate) use words;
