//! Patience with a program that was killed: it keeps its locks until the system has cleared it away.

use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

/// Who holds a lock may be dying, for so long.
pub struct Dying(Instant);

impl Dying {
    /// Begins to wait.
    pub fn since_now() -> Self {
        Self(Instant::now())
    }

    /// Waits a moment; `false`: there is no hope any more.
    pub fn waited(&self) -> bool {
        let hope = self.0.elapsed() < PATIENCE;
        if hope {
            std::thread::sleep(LOOK);
        }
        hope
    }
}
