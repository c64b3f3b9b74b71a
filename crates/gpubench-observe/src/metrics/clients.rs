//! The clients of the server that have no answer yet.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;

use tokio::task::AbortHandle;

/// The most clients at once.
const MOST: usize = 64;

/// The clients, by number: the oldest first.
#[derive(Debug, Default)]
pub(super) struct Clients {
    waiting: RefCell<BTreeMap<u64, Client>>,
    next: Cell<u64>,
}

#[derive(Debug)]
struct Client {
    peer: IpAddr,
    task: AbortHandle,
}

impl Clients {
    /// Returns the number of the next client.
    pub(super) fn number(&self) -> u64 {
        self.next.replace(self.next.get() + 1)
    }

    /// Admits a client. If there are too many, another one is sent away, so clients that take their
    /// time never keep one out that does not.
    pub(super) fn admit(&self, number: u64, peer: IpAddr, task: AbortHandle) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= MOST
            && let Some(client) = spare(&waiting).and_then(|number| waiting.remove(&number))
        {
            // Its connection ends with its task.
            client.task.abort();
        }
        waiting.insert(number, Client { peer, task });
    }

    /// Forgets a client, which has its answer or left.
    pub(super) fn leave(&self, number: u64) {
        self.waiting.borrow_mut().remove(&number);
    }
}

/// Returns the oldest client of the address that has the most.
fn spare(waiting: &BTreeMap<u64, Client>) -> Option<u64> {
    let mut of_peers: BTreeMap<IpAddr, (usize, u64)> = BTreeMap::new();
    for (number, client) in waiting {
        of_peers.entry(client.peer).or_insert((0, *number)).0 += 1;
    }
    let most = of_peers.into_values().max_by_key(|(count, _)| *count);
    most.map(|(_, oldest)| oldest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_the_address_with_the_most_clients_is_sent_away() {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let clients = Clients::default();
            let [one, many] = [1, 2].map(|end| IpAddr::from([10, 0, 0, end]));
            let admit = |peer| {
                let (number, task) = (clients.number(), tokio::spawn(std::future::pending::<()>()));
                clients.admit(number, peer, task.abort_handle());
                (number, task)
            };
            let first = admit(one);
            let crowd: Vec<_> = (0..2 * MOST).map(|_| admit(many)).collect();
            let left: Vec<u64> = clients.waiting.borrow().keys().copied().collect();
            let stays = &crowd[MOST + 1..];
            let wanted: Vec<u64> = [&first].into_iter().chain(stays).map(|client| client.0).collect();
            assert_eq!(left, wanted);
            assert!(!first.1.is_finished() && stays.iter().all(|(_, task)| !task.is_finished()));
            clients.leave(first.0);
            assert!(!clients.waiting.borrow().contains_key(&first.0));
            for (_, task) in crowd.into_iter().take(MOST + 1) {
                assert!(task.await.is_err_and(|error| error.is_cancelled()));
            }
        });
    }
}
