//! A double on 127.0.0.1 of a host with webhooks: keeps what it is sent, and answers with 200 unless a test wants something else.

use crate::stub_http::{document, read_request};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

pub struct HookHost {
    address: SocketAddr,
    shared: Arc<(Mutex<Heard>, Condvar)>,
}

/// Path, status and headers.
type Trouble = (String, u16, Vec<(String, String)>);

#[derive(Default)]
struct Heard {
    /// Path and body of each request.
    requests: Vec<(String, Value)>,
    /// The next answers to this path: status and headers.
    troubles: Vec<Trouble>,
}

impl HookHost {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared: Arc<(Mutex<Heard>, Condvar)> = Arc::default();
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&for_thread);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { address, shared }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The next request for this path is answered with this status and these headers.
    pub fn trouble(&self, path: &str, status: u16, headers: &[(&str, &str)]) {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        lock(&self.shared.0).troubles.push((path.to_owned(), status, headers));
    }

    /// The bodies that were sent to this path.
    pub fn sent(&self, path: &str) -> Vec<Value> {
        let heard = lock(&self.shared.0);
        heard.requests.iter().filter(|(to, _)| to == path).map(|(_, body)| body.clone()).collect()
    }

    /// The first body for this path that fits, once it is there.
    pub fn wait_for(&self, path: &str, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        let mut heard = lock(&self.shared.0);
        loop {
            if let Some((_, body)) = heard.requests.iter().find(|(to, body)| to == path && fits(body)) {
                return body.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what}: {:?}", heard.requests);
            heard = self.shared.1.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn serve(shared: &(Mutex<Heard>, Condvar), mut stream: TcpStream) {
    let mut input = BufReader::new(stream.try_clone().unwrap());
    while let Ok(Some(request)) = read_request(&mut input) {
        let body = serde_json::from_slice(&request.body).unwrap_or_default();
        let (status, headers) = {
            let mut heard = lock(&shared.0);
            let at = heard.troubles.iter().position(|(of, ..)| *of == request.path);
            let trouble = at.map(|at| heard.troubles.remove(at));
            heard.requests.push((request.path, body));
            shared.1.notify_all();
            trouble.map_or((200, Vec::new()), |(_, status, headers)| (status, headers))
        };
        if document(&mut stream, status, &json!({}), &headers).is_err() {
            return;
        }
    }
}

/// Also after a test has failed with it.
fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
