//! What becomes of a screen's runs when its terminal is closed.

use crate::domain::worded::worded;

worded! {
    /// What becomes of a screen's runs when its terminal is closed.
    #[derive(Default)]
    pub enum OnHangup {
        /// They are stopped, and can be resumed.
        #[default]
        Stop = "stop",
        /// They go on in the background.
        Detach = "detach",
    }
}
