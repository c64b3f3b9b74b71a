use gpubench::catalog::{
    Catalog, DType, Fill, Occupancy, Reference, Role, Source, SourceFile, SourceForm, Tensor, Tolerance, Work,
};
use gpubench::plan::{KernelRef, Launch, Plan, Step};

use super::*;
use gpubench_contract::Verdict;

fn kernel() -> KernelRef {
    KernelRef {
        source: 0,
        name: "axpy".to_owned(),
    }
}

fn catalog() -> Catalog {
    let file = SourceFile {
        path: "a.cu".to_owned(),
        contents: b"__global__ void axpy() {}".to_vec(),
    };
    let source = Source {
        name: "a.cu".to_owned(),
        form: SourceForm::Cuda,
        files: vec![file],
        options: Vec::new(),
    };
    Catalog {
        benchmarks: Vec::new(),
        problems: Vec::new(),
        sources: vec![source],
    }
}

/// Returns a recording with one output and scratch.
fn recording() -> Recording {
    let output = Tensor {
        name: "y".to_owned(),
        dtype: DType::F32,
        shape: vec![8],
        role: Role::Output,
        fill: Fill::Poison,
        tolerance: Tolerance::Exact,
        record: None,
    };
    let launch = Launch {
        kernel: kernel(),
        grid: [1; 3],
        block: [32, 1, 1],
        cluster: [1; 3],
        dynamic_shared: 0,
        cooperation: Default::default(),
        dependence: Default::default(),
        arguments: Vec::new(),
        types: Vec::new(),
        place: String::new(),
    };
    Recording {
        tensors: vec![output],
        work: Work::default(),
        plan: Plan {
            steps: vec![Step::Launch(launch)],
            scratch: vec![1000],
            constants: Vec::new(),
        },
        execution: Default::default(),
        call: None,
        reference: Reference::Author,
    }
}

fn facts(free_memory: Option<u64>) -> Facts {
    Facts {
        free_memory,
        ..gpubench_device::cpu::facts(std::num::NonZeroUsize::MIN)
    }
}

#[test]
fn a_case_that_needs_more_than_the_free_memory_is_refused() {
    let recording = recording();
    let needed = memory_needed(&CodePlacement::new(&recording, facts(None).kernels_run_in));
    assert!(needed > 1000);
    let admitted = |free| admit(&recording, Subject::Benchmarks, &catalog(), &facts(free));
    for enough in [None, Some(u64::MAX), Some(needed + 1), Some(needed)] {
        assert!(admitted(enough).is_ok(), "{enough:?}");
    }
    for too_little in [needed - 1, 1000, 0] {
        let failure = admitted(Some(too_little)).unwrap_err();
        assert_eq!((failure.verdict, failure.cause), (Verdict::Error, Cause::OutOfMemory));
    }
}

#[test]
fn an_invalid_plan_is_refused_whatever_memory_is_free() {
    let mut invalid = recording();
    invalid.plan.steps.clear();
    let failure = admit(&invalid, Subject::Benchmarks, &catalog(), &facts(Some(0))).unwrap_err();
    assert_eq!((failure.verdict, failure.cause), (Verdict::Error, Cause::PlanInvalid));
}

#[test]
fn a_plan_queries_at_most_64_different_occupancies() {
    let query = |threads| OccupancyQuery {
        kernel: kernel(),
        threads,
        dynamic_shared: 0,
    };
    let asked = |number: u32| RecordRequest {
        params: Default::default(),
        facts: facts(None).device,
        occupancies: (0..number)
            .map(|threads| Occupancy {
                query: query(threads),
                blocks: 1,
            })
            .collect(),
    };
    assert!(may_ask(&asked(0), &query(0)).is_ok());
    assert!(may_ask(&asked(63), &query(1000)).is_ok());
    for number in [64, 65] {
        let failure = may_ask(&asked(number), &query(1000)).unwrap_err();
        assert_eq!(failure.cause, Cause::RecordingFailed, "{number}");
    }
    for known in [0, 5, 9] {
        assert!(may_ask(&asked(10), &query(known)).is_err(), "{known} was answered");
    }
}
