//! What a page says of audited calls.

use gpubench_contract::{AuditedKernel, AuditedSystemCall, CallAudit};
use gpubench_testing::on_gpu;

use super::pages::{plain_page, stored};

const TITLE: &str = "A call asks the driver for";

fn page(audit: Option<CallAudit>) -> String {
    let mut run = stored(on_gpu());
    run.results[0].audit = audit;
    plain_page(&run)
}

#[test]
fn an_audit_has_a_fact_for_each_number_that_is_not_zero() {
    let page = page(Some(CallAudit {
        calls: 9,
        launches: 2.5,
        copies: 1.0,
        copied_bytes: 4096.0,
        submissions: Some(0.0),
        kernels: vec![AuditedKernel {
            name: "scan<256>".to_owned(),
            launches: 2.5,
        }],
        system_calls: Some(vec![AuditedSystemCall {
            name: "ioctl".to_owned(),
            calls: 3.0,
        }]),
        ..CallAudit::default()
    }));
    let (_, facts) = page.split_once(TITLE).expect("the group is there");
    let (facts, _) = facts.split_once("</dl>").expect("a list");
    for fact in [
        "<dt>Launches</dt><dd>2.50</dd>",
        "<dt>Copies</dt><dd>1, 4 KiB</dd>",
        "<dt>Submissions to the GPU</dt><dd>0</dd>",
        "<dt>Audited calls</dt><dd>9</dd>",
        "<dt>System calls</dt><dd>3 ioctl</dd>",
        "scan&lt;256&gt;",
        " × 2.50",
    ] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
    assert!(!facts.contains("Fills") && !facts.contains("Lost events"), "{facts}");
}

#[test]
fn calls_that_were_not_audited_have_no_facts() {
    assert!(!page(None).contains(TITLE));
}
