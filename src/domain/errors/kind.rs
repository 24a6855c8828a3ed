//! Who reports an error.

use crate::domain::worded::worded;

worded! {
    /// Who reports an error.
    pub enum ErrorKind {
        /// A `result` record of Claude's: `is_error`, or an `error_*` subtype.
        Result = "result",
        ToolResult = "tool_result",
        /// The provider's API, by its error type or Claude's `API Error`.
        Api = "api",
        /// Any other JSON that says so: `error`, `has_errors`, `error_count`, `level`.
        Json = "json",
        Compiler = "compiler",
        Linker = "linker",
        /// A build tool: make, ninja, gradle, maven, bundlers, go.
        Build = "build",
        /// A panic of Rust or Go.
        Panic = "panic",
        /// An exception that nobody caught, or a traceback.
        Exception = "exception",
        /// A process killed by a signal, or that ran out of memory.
        Crash = "crash",
        Git = "git",
        Package = "package",
        /// The shell or a system's tool: not found, permission denied, a failing exit code.
        Shell = "shell",
        Test = "test",
        /// An HTTP answer of 400 and above.
        Http = "http",
        /// A log line of level error or above.
        Log = "log",
        /// Anything else that begins with `error:` or `fatal:`.
        Error = "error",
    }
}
