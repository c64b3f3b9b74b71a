//! A definition as the library of a crate: what builds and catalogs are elsewhere.

use camino::Utf8Path;
use gpubench::catalog::{
    Benchmark, Catalog, HiddenCases, ReferenceKind, Score, Selection, StatedProblem, SubmissionLimits,
};

use super::problem::DatasetProblem;
use crate::cdylibs::{Built, BuiltLibrary, CargoTarget, Coverage, LibraryForm, OwnLibraries};
use crate::config::CaseSettings;

/// What the catalog calls the library of a definition.
const LIBRARY: &str = "definition";

impl DatasetProblem {
    /// Returns the problem as a library that no cargo has built.
    pub(crate) fn built(&self) -> Built {
        let folder = Utf8Path::from_path(self.folder.path()).unwrap_or(Utf8Path::new("/"));
        let library = BuiltLibrary {
            package: self.definition.name.clone(),
            target: CargoTarget::Library,
            crate_name: LIBRARY.to_owned(),
            version: String::new(),
            root: folder.to_owned(),
            library: self.options.definition.clone(),
            form: LibraryForm::StoredTensors,
            code: vec![self.stored.clone()],
            library_path: Vec::new(),
            own_libraries: OwnLibraries::OnDisk,
            settings: CaseSettings::default(),
        };
        Built {
            libraries: vec![library],
            coverage: Coverage::Part,
            target_directory: folder.to_owned(),
            target: String::new(),
            runtime_version: env!("CARGO_PKG_VERSION").to_owned(),
            notices: Vec::new(),
        }
    }

    /// Returns the catalog of that library.
    pub(crate) fn catalog(&self) -> Catalog {
        let outline = Benchmark {
            library: LIBRARY.to_owned(),
            path: self.definition.name.clone(),
            problem: self.definition.name.clone(),
            file: self.options.definition.to_string(),
            line: 1,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes: vec![self.axes.clone()],
            own_axes: Vec::new(),
            counters: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        };
        let problem = StatedProblem {
            outline,
            statement: self.definition.description.clone().unwrap_or_default(),
            signature: Vec::new(),
            work: Vec::new(),
            hidden: HiddenCases::default(),
            score: Score::default(),
            limits: SubmissionLimits::default(),
            reference: ReferenceKind::Command,
            device_references: Vec::new(),
        };
        Catalog {
            problems: vec![problem],
            ..Catalog::default()
        }
    }
}
