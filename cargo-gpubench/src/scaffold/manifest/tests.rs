use super::*;

/// Returns the text with the runtime and an example `gpu`, as `cargo gpubench init` adds them.
fn added(text: &str) -> Result<String, ScaffoldError> {
    let mut manifest = Manifest::of(Utf8Path::new("Cargo.toml"), text)?;
    let (name, value) = match manifest.runtime()? {
        Runtime::Usable(_) => (None, String::new()),
        Runtime::Optional { name, value } => (Some(name), value),
        Runtime::Missing => (Some(RUNTIME.to_owned()), "\"1\"".to_owned()),
    };
    if let Some(name) = name {
        manifest.add_dependency("dev-dependencies", &name, &value)?;
    }
    manifest.add_example("gpu")?;
    manifest.text()
}

#[test]
fn additions_keep_comments_and_format() {
    let manifests = [
        "[package]\nname = \"a\"",
        "[package]\nname = \"a\"\n\n[dev-dependencies] # for tests\n# x\nlibc = \"0.2\"  # c\n\n# the end",
        "[package]\nname = \"a\"\n[ dev-dependencies ]\nlibc = \"0.2\"\n\n[features]\n",
        "dev-dependencies.libc = \"0.2\"\n[package]\nname = \"a\"\n",
        "dev-dependencies = { libc = \"0.2\" } # all\n[package]\nname = \"a\"\n",
        "dev-dependencies = {}\n[package]\nname = \"a\"\n",
        "[dev-dependencies.libc]\nversion = \"0.2\"\n\n[package]\nname = \"a\"\n",
        "[package]\nname = \"a\"\ndescription = \"\"\"\n[dev-dependencies]\n\"\"\"\n",
        "example = [{ name = \"d\", path = \"demo.rs\" }]\n[package]\nname = \"a\"\n",
        "example = [\n  { name = \"d\" }, # d\n]\n[package]\nname = \"a\"\n",
        "[[example]]\nname = \"d\"\n\n[package]\nname = \"a\"\n\n[target.x.dependencies]\nlibc = \"0.2\"\n",
        "[package]\nname = \"a\"\n\n[dependencies]\n# gpubench = \"1\"\n",
        "package.name = \"a\"\n",
    ];
    let shown = manifests.map(|text| format!("{text}\n-----\n{}=====\n", added(text).expect("an addition")));
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn line_endings_and_a_byte_order_mark_stay() {
    let text = "\u{feff}[package]\r\nname = \"a\"\r\ndescription = \"\"\"\r\nb\r\n\"\"\"\r\n\r\n[dev-dependencies]\r\n";
    let added = added(text).expect("an addition");
    assert!(added.starts_with("\u{feff}[package]\r\n"), "{added:?}");
    assert!(
        added.contains("[dev-dependencies]\r\ngpubench = \"1\"\r\n"),
        "{added:?}"
    );
    assert_eq!(added.matches('\n').count(), added.matches("\r\n").count(), "{added:?}");
    assert_eq!(added.matches('\r').count(), added.matches("\r\n").count(), "{added:?}");
}

#[test]
fn the_runtime_is_found_under_its_name_in_the_manifest() {
    let runtime = |text: &str| Manifest::of(Utf8Path::new("no/Cargo.toml"), text).and_then(|read| read.runtime());
    let usable = |name: &str| Runtime::Usable(name.to_owned());
    for (text, expected) in [
        ("[dependencies]\ngpubench = \"1\"", usable("gpubench")),
        ("[dependencies]\ngpubench.workspace = true", usable("gpubench")),
        ("[dependencies]\ng-b = { package = \"gpubench\" }", usable("g-b")),
        ("[dev-dependencies.gb]\npackage = \"gpubench\"", usable("gb")),
        (
            "[target.'cfg(unix)'.dependencies]\ngpubench = \"1\"",
            usable("gpubench"),
        ),
        (
            "[dependencies]\ngb.workspace = true\n[workspace.dependencies]\ngb = { package = \"gpubench\" }",
            usable("gb"),
        ),
        (
            "[dependencies]\ngpubench = { version = \"1\", optional = true }\n\
             [dev-dependencies]\ngb = { package = \"gpubench\" }",
            usable("gb"),
        ),
        ("[dependencies]\nlibc = \"1\"", Runtime::Missing),
        (
            "[dependencies.gb]\npath = \"../x\"\noptional = true\nfeatures = [\"a\"]\npackage = \"gpubench\"",
            Runtime::Optional {
                name: "gb".to_owned(),
                value: "{ features = [\"a\"], package = \"gpubench\", path = \"../x\" }".to_owned(),
            },
        ),
    ] {
        assert_eq!(runtime(text).expect("a manifest"), expected, "{text}");
    }
    let other = runtime("[dependencies]\ngpubench = { package = \"other\" }").expect_err("another package");
    assert!(other.to_string().contains("`other`"), "{other}");
}

#[test]
fn what_cannot_be_added_is_an_error() {
    let twice = added("[[example]]\nname = \"gpu\"\npath = \"x.rs\"\n").expect_err("two of a name");
    assert!(matches!(twice, ScaffoldError::ExampleDeclared { .. }), "{twice}");
    for text in ["dev-dependencies = 1", "example = 1", "example = {}", "[example]"] {
        let error = added(text).expect_err("no table");
        assert!(matches!(error, ScaffoldError::NotEditable { .. }), "{error}");
    }
    let error = added("[package").expect_err("no TOML");
    assert!(matches!(error, ScaffoldError::Manifest { .. }), "{error}");
}
