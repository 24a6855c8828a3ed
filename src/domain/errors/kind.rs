//! Who reports an error.

use serde::Serialize;

/// Who reports an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// A `result` record of Claude's: `is_error`, or an `error_*` subtype.
    Result,
    /// A `tool_result` with `is_error`.
    ToolResult,
    /// The provider's API, by its error type or Claude's `API Error`.
    Api,
    /// Any other JSON that says so: `error`, `has_errors`, `error_count`, `level`.
    Json,
    /// A compiler or a linter.
    Compiler,
    Linker,
    /// A build tool: make, ninja, gradle, maven, bundlers, go.
    Build,
    /// A panic of Rust or Go.
    Panic,
    /// An exception that nobody caught, or a traceback.
    Exception,
    /// A process killed by a signal, or that ran out of memory.
    Crash,
    Git,
    Package,
    /// The shell or a system's tool: not found, permission denied, a failing exit code.
    Shell,
    Test,
    /// An HTTP answer of 400 and above.
    Http,
    /// A log line of level error or above.
    Log,
    /// Anything else that begins with `error:` or `fatal:`.
    Error,
}

impl ErrorKind {
    /// The word for people; the same that machines get.
    pub fn word(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::ToolResult => "tool_result",
            Self::Api => "api",
            Self::Json => "json",
            Self::Compiler => "compiler",
            Self::Linker => "linker",
            Self::Build => "build",
            Self::Panic => "panic",
            Self::Exception => "exception",
            Self::Crash => "crash",
            Self::Git => "git",
            Self::Package => "package",
            Self::Shell => "shell",
            Self::Test => "test",
            Self::Http => "http",
            Self::Log => "log",
            Self::Error => "error",
        }
    }
}
