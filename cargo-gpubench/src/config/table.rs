//! How settings are declared: one row for each, which holds all there is to know about it.
//!
//! The command line, its help and examples, the environment, profiles, `show-config`, its template
//! and the reference page all come from the rows.

/// Where a setting may be given, besides the command line and the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Nowhere.
    Line,
    /// In a profile.
    Profile,
    /// In a profile, its overrides and a crate's manifest: it may differ from case to case.
    Case,
}

/// What clap does not know about a setting.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name of its field, which is clap's id for it.
    pub id: &'static str,
    /// Where it may be given.
    pub scope: Scope,
    /// How a command line uses it.
    pub example: &'static str,
}

impl Row {
    /// Its name in files, as on the command line without the dashes.
    pub fn key(&self) -> String {
        self.id.replace('_', "-")
    }
}

/// Settings of one command that belong together.
pub trait Group {
    /// A row for each.
    fn rows() -> Vec<Row>;
}

/// Declares groups of settings: clap's arguments, and behind each where it may be given and an
/// example. A field without them is a group.
macro_rules! settings {
    (@rows $field:ident $type:ty = $scope:ident $example:literal) => {
        vec![$crate::config::Row {
            id: stringify!($field),
            scope: $crate::config::Scope::$scope,
            example: $example,
        }]
    };
    (@rows $field:ident $type:ty) => {
        <$type as $crate::config::Group>::rows()
    };
    ($($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$attribute:meta])* $field:ident: $type:ty $(=> $scope:ident $example:literal)?;)*
    })+) => {
        $(
            #[derive(Debug, clap::Args)]
            $(#[$meta])*
            $vis struct $name {
                $($(#[$attribute])* $vis $field: $type,)*
            }

            impl $crate::config::Group for $name {
                fn rows() -> Vec<$crate::config::Row> {
                    [$($crate::config::settings!(@rows $field $type $(= $scope $example)?)),*].concat()
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
