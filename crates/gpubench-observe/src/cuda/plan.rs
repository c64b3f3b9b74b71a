//! Which programs record which function.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gpubench_bpf::ProbePoint;
use gpubench_bpf::elf::{Function, Shape};

use super::contexts::ContextCall;
use super::map::PROCESSES_LOST;
use super::{Place, Probe, Role, canonical, is_per_thread};
use crate::DriverCall;

/// The functions of all observed drivers, by number. A name has one number in all of them.
#[derive(Debug, Default)]
pub(crate) struct Functions {
    known: Vec<KnownFunction>,
    numbers: BTreeMap<String, u32>,
    /// One text for each name that programs call.
    calls: BTreeMap<String, Arc<str>>,
}

/// A function of the driver.
#[derive(Clone, Debug)]
pub(crate) struct KnownFunction {
    pub(crate) call: DriverCall,
    pub(crate) role: Role,
    /// Whether stream 0 is the thread's own.
    pub(crate) is_per_thread: bool,
}

/// More symbols than have a role, each with its variants.
const WITH_A_ROLE: u32 = 512;

impl Functions {
    /// Returns the number of a symbol, or `None` if there is no room for more.
    fn number(&mut self, symbol: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(symbol) {
            return Some(*number);
        }
        let role = super::calls::role(symbol);
        // A file with endless functions of no meaning leaves room for those with one.
        let room = match role {
            Role::Other => PROCESSES_LOST - WITH_A_ROLE,
            _ => PROCESSES_LOST,
        };
        let number = u32::try_from(self.known.len()).ok().filter(|number| *number < room)?;
        let name = canonical(symbol);
        let call = self.calls.entry(name.to_owned()).or_insert_with(|| name.into());
        self.known.push(KnownFunction {
            call: DriverCall(Arc::clone(call)),
            role,
            is_per_thread: is_per_thread(symbol),
        });
        self.numbers.insert(symbol.to_owned(), number);
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> Option<&KnownFunction> {
        self.known.get(number as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &KnownFunction)> {
        self.known
            .iter()
            .enumerate()
            .map(|(number, function)| (number as u32, function))
    }
}

/// Where each probe goes in one library.
#[derive(Debug, Default)]
pub(crate) struct Plan(BTreeMap<Probe, Vec<ProbePoint>>);

/// How much a plan covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    /// Every observed function.
    All,
    /// The functions with a role, where each probe costs much.
    Roles,
}

impl Plan {
    /// Plans the probes of a library's functions.
    pub(crate) fn new(library: &[Function], functions: &mut Functions, coverage: Coverage) -> Plan {
        let mut plan = Plan::default();
        let mut taken = BTreeMap::new();
        for function in library {
            let role = super::calls::role(&function.name);
            if coverage == Coverage::Roles && role == Role::Other {
                continue;
            }
            // Two names for one function: one probe, for the name with a role.
            let other = taken.insert(function.site.offset, role);
            if other.is_some_and(|other| other != Role::Other || role == Role::Other) {
                continue;
            }
            let Some(number) = functions.number(&function.name) else {
                continue;
            };
            if other.is_some() {
                plan.remove(function.site.offset);
            }
            plan.add(function, role, number);
        }
        plan
    }

    fn add(&mut self, function: &Function, role: Role, number: u32) {
        let mut at = |probe: Probe, offset| {
            let cookie = probe.cookie(number);
            self.0.entry(probe).or_default().push(ProbePoint { offset, cookie });
        };
        let (entry, exit) = probes(role);
        at(entry, function.site.offset);
        match (exit, function.failure) {
            (Some(exit), _) => at(exit, function.site.offset),
            (None, Some(failure)) => at(Probe::WayOut, failure),
            (None, None) => at(Probe::ReturnOfFailure, function.site.offset),
        }
    }

    /// Returns where each program goes, in the order in which they are attached.
    pub(crate) fn places(self) -> BTreeMap<Place, Vec<ProbePoint>> {
        let mut places: BTreeMap<Place, Vec<ProbePoint>> = BTreeMap::new();
        for (probe, points) in self.0 {
            places.entry(probe.place()).or_default().extend(points);
        }
        places
    }

    fn remove(&mut self, offset: u64) {
        for points in self.0.values_mut() {
            points.retain(|point| point.offset != offset);
        }
        self.0.retain(|_, points| !points.is_empty());
    }
}

/// Returns what records the begin of a call, and its return if that is recorded.
///
/// A return costs half as much again as an entry, so launches have none where the stub tells their
/// errors.
fn probes(role: Role) -> (Probe, Option<Probe>) {
    use super::role::Dimensions::{Three, Two};
    let exit = match role {
        Role::Launch(_) => return (Probe::Launch, None),
        Role::LaunchExtended => return (Probe::LaunchExtended, None),
        Role::LaunchGrid { .. } | Role::GraphLaunch | Role::HostFunction => return (Probe::Enter, None),
        Role::RecordEvent => return (Probe::RecordEvent, None),
        Role::WaitForEvent => return (Probe::EnterWhileCapturing, None),
        // Frequent, and they hardly fail.
        Role::Context(ContextCall::Use | ContextCall::Push) => return (Probe::Enter, None),
        Role::Other => return (Probe::Count, None),
        Role::FindKernel => Probe::ReturnWithName,
        Role::NameOfKernel => Probe::ReturnWithNameOut,
        Role::AllocateArray(_) => Probe::ReturnWithArray,
        Role::CopyStructure { dimensions: Two, .. } => Probe::ReturnWithCopy2,
        Role::CopyStructure { dimensions: Three, .. } => Probe::ReturnWithCopy3,
        Role::BeginCapture => Probe::ReturnOfBegin,
        Role::EndCapture => Probe::ReturnOfEnd,
        Role::UnloadModule => Probe::ReturnOfUnload,
        Role::Context(call) if call.may_end_one() => Probe::ReturnOfUnload,
        _ => Probe::Return,
    };
    (Probe::Store, Some(exit))
}

/// How a library's functions were recognised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recognised {
    /// Functions that are probed in their implementation, so that callers around the stub are seen.
    pub implementations: usize,
    /// Functions that are probed at their symbol.
    pub symbols: usize,
    /// Functions that launch and whose probe is on an instruction that the kernel must step over.
    pub stepped_launches: usize,
}

impl Recognised {
    pub(crate) fn new(library: &[Function]) -> Recognised {
        let count = |of: &dyn Fn(&Function) -> bool| library.iter().filter(|function| of(function)).count();
        let symbols = count(&|function| function.shape == Shape::Plain);
        Recognised {
            implementations: library.len() - symbols,
            symbols,
            stepped_launches: count(&|function| {
                let role = super::calls::role(&function.name);
                let launches = matches!(role, Role::Launch(_) | Role::LaunchExtended | Role::GraphLaunch);
                launches && !function.site.is_emulated
            }),
        }
    }
}

/// How many functions of a library trap into the kernel, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps {
    /// At an instruction that the kernel emulates.
    pub emulated: usize,
    /// At an instruction that the kernel must step over: slow.
    pub stepped: usize,
    /// Once more when they return.
    pub returns: usize,
}

impl Traps {
    pub(crate) fn new(places: &BTreeMap<Place, Vec<ProbePoint>>, library: &[Function]) -> Traps {
        let offsets = |place| {
            let points = places.get(&place).into_iter().flatten();
            points.map(|point| point.offset).collect::<BTreeSet<u64>>()
        };
        let entries = offsets(Place::Entries);
        let stepped = library.iter().filter(|function| !function.site.is_emulated);
        let stepped: BTreeSet<u64> = stepped.map(|function| function.site.offset).collect();
        let stepped = stepped.intersection(&entries).count();
        Traps {
            emulated: entries.len() - stepped,
            stepped,
            returns: offsets(Place::Returns).len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_bpf::elf::Site;

    fn function(name: &str, offset: u64, failure: Option<u64>) -> Function {
        Function {
            name: name.to_owned(),
            symbol: offset,
            shape: Shape::Plain,
            site: Site {
                offset,
                is_emulated: true,
            },
            failure,
        }
    }

    fn probes_of(plan: &Plan, offset: u64) -> Vec<Probe> {
        let has = |points: &Vec<ProbePoint>| points.iter().any(|point| point.offset == offset);
        plan.0
            .iter()
            .filter(|(_, points)| has(points))
            .map(|(probe, _)| *probe)
            .collect()
    }

    #[test]
    fn errors_of_launches_are_seen_on_the_way_out_or_at_the_return() {
        let library = [
            function("cuLaunchKernel", 16, Some(64)),
            function("cuGraphLaunch", 32, None),
        ];
        let plan = Plan::new(&library, &mut Functions::default(), Coverage::All);
        assert_eq!(probes_of(&plan, 16), [Probe::Launch]);
        assert_eq!(probes_of(&plan, 64), [Probe::WayOut]);
        assert_eq!(probes_of(&plan, 32), [Probe::ReturnOfFailure, Probe::Enter]);
    }

    #[test]
    fn launches_that_the_kernel_must_step_over_are_counted() {
        let stepped = |name: &str| {
            let mut function = function(name, 16, None);
            function.site.is_emulated = false;
            function
        };
        let library = [
            function("cuLaunchKernel", 8, None),
            stepped("cuLaunchKernelEx"),
            stepped("cuGraphLaunch_ptsz"),
            stepped("cuMemFree_v2"),
        ];
        assert_eq!(Recognised::new(&library).stepped_launches, 2);
    }

    #[test]
    fn traps_of_a_function_with_two_names_are_counted_once() {
        let mut slow = function("cuMemFree_v2", 32, None);
        slow.site.is_emulated = false;
        let library = [
            function("cuLaunchKernel", 8, Some(64)),
            function("cuLaunchKernelEx", 16, None),
            function("cuMemFree", 32, None),
            slow,
        ];
        let places = Plan::new(&library, &mut Functions::default(), Coverage::All).places();
        let traps = Traps::new(&places, &library);
        assert_eq!((traps.emulated, traps.stepped, traps.returns), (2, 1, 2));
    }

    #[test]
    fn two_names_for_one_function_are_probed_once() {
        let library = [function("cuMemFree", 16, None), function("cuMemFree_v2", 16, None)];
        let mut functions = Functions::default();
        let plan = Plan::new(&library, &mut functions, Coverage::All);
        assert_eq!(probes_of(&plan, 16), [Probe::Return, Probe::Store]);
    }

    #[test]
    fn endless_functions_without_a_role_leave_room_for_those_with_one() {
        let mut functions = Functions::default();
        let junk: Vec<Function> = (0..10_000).map(|n| function(&format!("cuJunk{n}"), n, None)).collect();
        Plan::new(&junk, &mut functions, Coverage::All);
        let plan = Plan::new(&[function("cuMemFree_v2", 16, None)], &mut functions, Coverage::All);
        assert_eq!(probes_of(&plan, 16), [Probe::Return, Probe::Store]);
    }

    #[test]
    fn costly_probes_go_to_functions_with_a_role_alone() {
        let library = [function("cuMemFree_v2", 16, None), function("cuCtxSetLimit", 32, None)];
        let plan = Plan::new(&library, &mut Functions::default(), Coverage::Roles);
        assert!(!probes_of(&plan, 16).is_empty() && probes_of(&plan, 32).is_empty());
    }
}
