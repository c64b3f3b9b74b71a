//! Looks at files and processes of strangers, which may never answer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use gpubench_bpf::Account;

/// Jobs, each in a thread of its own: one at a time for each account, so that a file system that
/// never answers, or endless files, hold up nobody but who has them.
#[derive(Debug)]
pub(super) struct Scouts<J, R> {
    accounts: BTreeMap<Account, Turn<J>>,
    reports: Receiver<Report<R>>,
    report: Sender<Report<R>>,
    limits: Limits,
}

/// How long accounts may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Jobs of an account that wait.
    pub(super) waiting: usize,
    /// Accounts with jobs.
    pub(super) accounts: usize,
    /// After this time, a job is given up. Its account gets no other until it ends after all.
    pub(super) patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            waiting: 64,
            accounts: 64,
            patience: Duration::from_secs(10),
        }
    }
}

#[derive(Debug)]
struct Turn<J> {
    waiting: VecDeque<J>,
    /// When the running job began.
    began: Option<Instant>,
    /// Whether the running job was given up.
    is_stuck: bool,
    rests_until: Instant,
}

#[derive(Debug)]
struct Report<R> {
    account: Account,
    result: R,
}

/// Whether a job will run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    Yes,
    /// Its account has too many that wait, or there are too many accounts.
    No,
}

/// What happened to jobs.
#[derive(Debug)]
pub(super) struct News<R> {
    /// What jobs have found.
    pub(super) found: Vec<(Account, R)>,
    /// Accounts whose job was given up just now.
    pub(super) stuck: Vec<Account>,
}

impl<J: Send + 'static, R: Send + 'static> Scouts<J, R> {
    pub(super) fn new(limits: Limits) -> Scouts<J, R> {
        let (report, reports) = mpsc::channel();
        Scouts {
            accounts: BTreeMap::new(),
            reports,
            report,
            limits,
        }
    }

    /// Adds a job, which runs when it is its turn.
    pub(super) fn add(&mut self, account: Account, job: J) -> Accepted {
        let is_full = self.accounts.len() >= self.limits.accounts && account != Account::Own;
        if is_full && !self.accounts.contains_key(&account) {
            return Accepted::No;
        }
        let turn = self.accounts.entry(account).or_insert_with(|| Turn {
            waiting: VecDeque::new(),
            began: None,
            is_stuck: false,
            rests_until: Instant::now(),
        });
        if turn.is_stuck || turn.waiting.len() >= self.limits.waiting {
            return Accepted::No;
        }
        turn.waiting.push_back(job);
        Accepted::Yes
    }

    /// Returns what jobs have found, and begins those whose turn it is with `run`.
    pub(super) fn poll(&mut self, run: impl Fn(Account, J) -> R + Clone + Send + 'static) -> News<R> {
        let now = Instant::now();
        let mut news = News {
            found: Vec::new(),
            stuck: Vec::new(),
        };
        for Report { account, result } in self.reports.try_iter() {
            if let Some(turn) = self.accounts.get_mut(&account) {
                let took = turn
                    .began
                    .take()
                    .map_or(Duration::ZERO, |began| now.duration_since(began));
                turn.is_stuck = false;
                // Others than root may use half a processor.
                let rest = if account == Account::Own { Duration::ZERO } else { took };
                turn.rests_until = now + rest;
            }
            news.found.push((account, result));
        }
        for (account, turn) in &mut self.accounts {
            match turn.began {
                Some(began) if !turn.is_stuck && now.duration_since(began) > self.limits.patience => {
                    turn.is_stuck = true;
                    turn.waiting.clear();
                    news.stuck.push(*account);
                }
                None if now >= turn.rests_until => begin(*account, turn, &self.report, run.clone()),
                _ => {}
            }
        }
        self.accounts.retain(|_, turn| {
            let is_idle = turn.began.is_none() && turn.waiting.is_empty();
            !is_idle || now < turn.rests_until
        });
        news
    }

    /// Whether no job runs or waits, but those that were given up.
    pub(super) fn are_done(&self) -> bool {
        let is_done = |turn: &Turn<J>| turn.is_stuck || (turn.began.is_none() && turn.waiting.is_empty());
        self.accounts.values().all(is_done)
    }
}

fn begin<J: Send + 'static, R: Send + 'static>(
    account: Account,
    turn: &mut Turn<J>,
    report: &Sender<Report<R>>,
    run: impl Fn(Account, J) -> R + Send + 'static,
) {
    let Some(job) = turn.waiting.pop_front() else {
        return;
    };
    let report = report.clone();
    let work = move || {
        let result = run(account, job);
        // Nobody listens any more when the observation ends.
        let _ = report.send(Report { account, result });
    };
    // Without room for a thread, the job is lost as if it had found nothing.
    if thread::Builder::new().name("scout".to_owned()).spawn(work).is_ok() {
        turn.began = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    const BOB: Account = Account::User(1);
    const ALICE: Account = Account::User(2);

    /// A job that never ends in the account of Bob, until the barrier opens.
    fn run(barrier: Arc<Barrier>) -> impl Fn(Account, u32) -> u32 + Clone + Send + 'static {
        move |account, job| {
            if account == BOB {
                barrier.wait();
            }
            job
        }
    }

    fn found_until(
        scouts: &mut Scouts<u32, u32>,
        run: &(impl Fn(Account, u32) -> u32 + Clone + Send + 'static),
        mut is_last: impl FnMut(&News<u32>) -> bool,
    ) {
        loop {
            let news = scouts.poll(run.clone());
            if is_last(&news) {
                return;
            }
            thread::yield_now();
        }
    }

    #[test]
    fn a_job_that_never_ends_holds_up_its_own_account_alone() {
        let barrier = Arc::new(Barrier::new(2));
        let run = run(barrier.clone());
        let mut scouts = Scouts::new(Limits {
            patience: Duration::ZERO,
            ..Limits::default()
        });
        assert_eq!(scouts.add(BOB, 1), Accepted::Yes);
        assert_eq!(scouts.add(BOB, 2), Accepted::Yes);
        found_until(&mut scouts, &run, |news| news.stuck == [BOB]);
        assert!(scouts.are_done());
        assert_eq!(scouts.add(BOB, 3), Accepted::No, "it would wait for ever");
        assert_eq!(scouts.add(ALICE, 4), Accepted::Yes);
        found_until(&mut scouts, &run, |news| news.found == [(ALICE, 4)]);
        barrier.wait();
        found_until(&mut scouts, &run, |news| news.found == [(BOB, 1)]);
        assert_eq!(scouts.add(BOB, 5), Accepted::Yes);
    }

    #[test]
    fn endless_jobs_and_accounts_are_refused_but_never_those_of_root() {
        let mut scouts: Scouts<u32, u32> = Scouts::new(Limits::default());
        let accepted = |scouts: &mut Scouts<u32, u32>, account| scouts.add(account, 0) == Accepted::Yes;
        assert_eq!(
            (0..10_000).filter(|_| accepted(&mut scouts, BOB)).count(),
            Limits::default().waiting
        );
        let accounts = (10..10_000).map(Account::User);
        assert_eq!(
            accounts.filter(|account| accepted(&mut scouts, *account)).count(),
            Limits::default().accounts - 1
        );
        assert!(accepted(&mut scouts, Account::Own));
    }
}
