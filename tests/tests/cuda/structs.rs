//! Outputs of structs, whose fields the driver copies to where they are compared.

use gpubench_tests::{FakeGpu, Fixture};

#[test]
fn fields_of_structs_are_judged_on_the_gpu_too() {
    let gpu = FakeGpu::new();
    let cases = [
        "^structs::right::",
        "^structs::other_padding::",
        "^structs::one_index_wrong::",
        "^structs::only_one_field::",
        "^structs::previous_value::",
        "^structs::moves_half::",
        "^structs::copies::",
    ];
    let run = gpu.run(&Fixture::new("judged")).briefly().json();
    let records = run.args(["--include-ignored"]).args(cases).finish().records();
    for case in ["structs::right", "structs::other_padding", "structs::copies"] {
        assert_eq!(
            records.result(case)["verdict"],
            "pass",
            "{}",
            records.result(case)["message"]
        );
    }
    records.assert_ends(
        "structs::one_index_wrong",
        "wrong-output",
        "mismatch",
        &["`hits[417].index`"],
    );
    records.assert_ends(
        "structs::only_one_field",
        "wrong-output",
        "unwritten",
        &["`hits[].value`"],
    );
    records.assert_ends("structs::previous_value", "wrong-output", "stale", &["`hits[].value`"]);
    records.assert_ends(
        "structs::moves_half",
        "wrong-output",
        "partial",
        &["750 of 1500", "`particles[0, 0].position[0]`"],
    );
}
