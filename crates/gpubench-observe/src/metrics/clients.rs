//! The clients of the server that have no answer yet.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::Arc;

/// The most clients at once.
const MOST: usize = 64;

/// The clients, by number: the oldest first.
#[derive(Debug, Default)]
pub(super) struct Clients {
    waiting: BTreeMap<u64, Client>,
    next: u64,
}

#[derive(Debug)]
struct Client {
    peer: IpAddr,
    stream: Arc<TcpStream>,
}

impl Clients {
    /// Admits a client and returns its number. If there are too many, another one is sent away, so
    /// clients that take their time never keep one out that does not.
    pub(super) fn admit(&mut self, peer: IpAddr, stream: Arc<TcpStream>) -> u64 {
        if self.waiting.len() >= MOST
            && let Some(client) = self.spare().and_then(|number| self.waiting.remove(&number))
        {
            // Its thread gets no more of it, and ends. One that is gone already harms nobody.
            let _ = client.stream.shutdown(Shutdown::Both);
        }
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, Client { peer, stream });
        number
    }

    /// Forgets a client, which has its answer or left.
    pub(super) fn leave(&mut self, number: u64) {
        self.waiting.remove(&number);
    }

    /// Returns the oldest client of the address that has the most.
    fn spare(&self) -> Option<u64> {
        let mut of_peers: BTreeMap<IpAddr, (usize, u64)> = BTreeMap::new();
        for (number, client) in &self.waiting {
            of_peers.entry(client.peer).or_insert((0, *number)).0 += 1;
        }
        let most = of_peers.into_values().max_by_key(|(count, _)| *count);
        most.map(|(_, oldest)| oldest)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_oldest_of_the_address_with_the_most_clients_is_sent_away() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let stream = || Arc::new(TcpStream::connect(address).expect("a connection"));
        let mut clients = Clients::default();
        let [one, many] = [1, 2].map(|end| IpAddr::from([10, 0, 0, end]));
        let first = clients.admit(one, stream());
        let crowd: Vec<u64> = (0..2 * MOST).map(|_| clients.admit(many, stream())).collect();
        let left: Vec<u64> = clients.waiting.keys().copied().collect();
        assert_eq!(left, [&[first], &crowd[MOST + 1..]].concat());
        clients.leave(first);
        assert!(!clients.waiting.contains_key(&first));
    }

    #[test]
    fn only_a_client_that_is_sent_away_loses_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut clients = Clients::default();
        let streams: Vec<Arc<TcpStream>> = (0..=MOST)
            .map(|_| {
                let stream = Arc::new(TcpStream::connect(address).expect("a connection"));
                stream.set_nonblocking(true).expect("it is a socket");
                clients.admit(address.ip(), stream.clone());
                stream
            })
            .collect();
        let is_over = |stream: &Arc<TcpStream>| (&**stream).read(&mut [0]).is_ok_and(|bytes| bytes == 0);
        let over: Vec<usize> = (0..=MOST).filter(|position| is_over(&streams[*position])).collect();
        assert_eq!(over, [0]);
    }
}
