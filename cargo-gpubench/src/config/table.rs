//! The declaration of settings. One row has everything about a setting.
//!
//! The command line, its help and examples, the environment, profiles, `show-config`, its template
//! and the reference page are generated from the rows.

/// The places that may contain a setting, in addition to the command line and the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// No other place.
    Line,
    /// A profile.
    Profile,
    /// A profile, its overrides and a crate's manifest. The setting may differ between cases.
    Case,
}

/// The properties of a setting that clap does not know.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name of the field, which is clap's id.
    pub id: &'static str,
    /// The places that may contain the setting.
    pub scope: Scope,
    /// Example arguments.
    pub example: &'static str,
    /// Whether `-h` shows it.
    pub is_common: bool,
}

impl Row {
    /// Returns the key in files: the option without its dashes.
    pub fn key(&self) -> String {
        self.id.replace('_', "-")
    }
}

/// A group of settings.
pub trait Group {
    /// Returns a row for each setting.
    fn rows() -> Vec<Row>;
}

/// Declares groups of settings. Each row is a clap argument, then `=>`, its [`Scope`], an example
/// and `, common` if `-h` shows it. A field without these is a nested group.
macro_rules! settings {
    (@rows $field:ident $type:ty = $scope:ident $example:literal $($common:ident)?) => {
        vec![$crate::config::Row {
            id: stringify!($field),
            scope: $crate::config::Scope::$scope,
            example: $example,
            is_common: !stringify!($($common)?).is_empty(),
        }]
    };
    (@rows $field:ident $type:ty) => {
        <$type as $crate::config::Group>::rows()
    };
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$attribute:meta])* $field:ident: $type:ty $(=> $scope:ident $example:literal $(, $common:ident)?)?;)*
    })+) => {
        $(
            #[derive(Debug, clap::Args)]
            $(#[$meta])*
            $vis struct $name {
                $($(#[$attribute])* $vis $field: $type,)*
            }

            impl $crate::config::Group for $name {
                fn rows() -> Vec<$crate::config::Row> {
                    [$($crate::config::settings!(@rows $field $type $(= $scope $example $($common)?)?)),*].concat()
                }
            }

            impl $crate::config::Read for $name {
                fn read(values: &$crate::config::Values<'_>, _: &str) -> Self {
                    Self { $($field: $crate::config::Read::read(values, stringify!($field)),)* }
                }
            }
        )+
    };
}

pub(crate) use settings;
