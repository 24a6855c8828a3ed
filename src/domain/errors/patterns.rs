//! The tables that error lines are known by: data, no code. A pattern sees one line, clean, without indentation
//! and without what [`LEAD`] takes off; classes are ASCII. To teach a new tool, add a row and a row of the test.

use super::kind::ErrorKind::{
    self, Api, Build, Compiler, Crash, Error, Exception, Git, Http, Linker, Log, Package, Panic, Shell, Test,
};

/// What logs put before a message: a date, a time, or both.
pub(super) const LEAD: &str =
    r"^\[?(\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?)?|\d\d:\d\d:\d\d([.,]\d+)?)(Z| ?[+-]\d\d:?\d\d)?\]?[\s:|-]*";

/// Reports, each known by how its line begins. The first row that fits names the kind.
pub(super) const SIGNS: &[(ErrorKind, &str)] = &[
    // Claude and the API.
    (Api, r"^(API Error|AxiosError|APIError)\b[ :(]"),
    (Api, r"^\{.*\x22(is_error\x22\s*:\s*true|subtype\x22\s*:\s*\x22error_)"),
    // Panics and crashes.
    (Panic, r"^(thread '.*' (\(\d+\) )?)?panicked at\b"),
    (Panic, r"^(panic|PANIC): \S|^thread '.*' .*has overflowed its stack|^kernel panic\b"),
    (Panic, r"^goroutine \d+ \[running"),
    (
        Crash,
        r"^(\S+: )*(line \d+: +\d+ )?(Segmentation fault|Bus error|Illegal instruction|Aborted|Trace/breakpoint trap)\b",
    ),
    (Crash, r"^(\S+: )*(line \d+: +\d+ )?(Floating point exception|Killed|Terminated)( *\(core dumped\)|$|:? +\d)"),
    (Crash, r"\(core dumped\)|\(signal: \d+, SIG[A-Z]+|^(fatal signal|SIG(SEGV|ABRT|BUS|ILL|FPE|KILL))\b[: ]"),
    (
        Crash,
        r"^==\d+==\s*ERROR: |^\S+:\d+:\d+: runtime error: |^terminate called (after|without)|^double free or corruption",
    ),
    (Crash, r"^(Out of memory|fatal error: (all goroutines|runtime: out of memory)|FATAL ERROR: .*heap)|\bOOMKilled\b"),
    (Crash, r"^(\S+: )*(Assertion failed|assertion failed|Assertion [`'].*' failed)"),
    // Linkers.
    (Linker, r"(^|: )undefined (reference to|symbols?( for architecture)?:?) ?[`'\x22_\w]"),
    (Linker, r"^Undefined symbols for architecture|(^|: )(unresolved external symbol|multiple definition of) "),
    (
        Linker,
        r"^(\S*/)?(ld|lld|ld\.lld|ld\.gold|rust-lld|collect2|LINK|mold)( ?: |: error: )(fatal )?(error|cannot find|library not found|symbol|undefined|framework not found)",
    ),
    (Linker, r"^(error|Error): linking with |^\S+ : (fatal )?error LNK\d+"),
    // Compilers and linters, by place or by code.
    (Compiler, r"^(error|ERROR)\[[A-Za-z]+[-\w:]*\]"),
    (Compiler, r"(^|: | - )(fatal )?error [A-Z]{1,8}-?\d{3,6}\b"),
    (Compiler, r"^\S.*[:(]\d+(,\d+)?[:)](\d+:)? ?:? (fatal |internal compiler |syntax )?[Ee]rror: "),
    (Compiler, r"^\S+:\d+:\d+ - error\b|^\d+:\d+\s+error\s+\S"),
    (Compiler, r"^(\./)?[^\s:]+\.go:\d+:\d+: |^(\./)?[^\s:]+\.go:\d+: (undefined|cannot|syntax error|undeclared)"),
    (
        Compiler,
        r"^e: (file://)?\S+\.kts?: ?\(?\d|^PHP (Fatal|Parse|Catchable fatal|Recoverable fatal) error:|^Parse error\b.*:",
    ),
    (
        Compiler,
        r"^(clang|gcc|g\+\+|cc1(plus)?|rustc|javac|tsc|swiftc|ghc|nvcc|cl|as): (fatal |internal )?(compiler )?error\b",
    ),
    // Tests.
    (Test, r"^--- FAIL: |^FAIL$|^FAIL\s+(\[|\S*[./:\[])|^FAIL: \S|^ERROR: test"),
    (Test, r"^FAILED($|: | \(| \S*[./:])|^test \S.* \.\.\. FAILED|^test result: FAILED|^ERROR (collecting )?\S+\.py\b"),
    (Test, r"^E {3,}\S|^Failed asserting that\b|^not ok\b|^Failures:$|^failures:$"),
    (
        Test,
        r"^(.*\D)?[1-9]\d* (failed|failing|failures?|errors?)\b.*\b\d+ (passed|passing|skipped|ignored|todo|pending|total|tests?|examples?)\b",
    ),
    (
        Test,
        r"\b\d+ (passed|passing|tests?( run)?|examples?|assertions|runs|pass)\b[,;:. ]([\w ,;:.]*\D)?[1-9]\d* (failed|failing|fail|failures?|errors?)\b",
    ),
    (Test, r"^=*\s*[1-9]\d* (tests? )?(failed|failing)( in .*|,.*|\s*=*)?$|^[1-9]\d* tests? (failed|failures?)\b"),
    (
        Test,
        r"^Tests run: \d+,.*\b(Failures|Errors): [1-9]|^(Failed( tests)?|Failures|Failing tests)\s*: +[1-9]\d*\b|^Failed!",
    ),
    (Test, r"^(Tests?|Test Suites|Test Files):? +[1-9]\d* failed\b"),
    // Build tools.
    (Build, r"^g?make(\[\d+\])?: (\*\*\* |.*Error \d)|^ninja: (error|build stopped)|^CMake Error\b"),
    (Build, r"^(-- )?Configuring incomplete, errors occurred|^> Task \S+ FAILED|^FAILURE: "),
    (
        Build,
        r"^(\[ERROR\] )?(BUILD|COMPILATION|Build|Compilation|build|compilation) (FAILED|FAILURE|ERROR|[Ff]ailed|failure)\b",
    ),
    (Build, r"^(ERROR|Error) in \S|^(Module not found|Module build failed)\b|^error during build|^Failed to compile\b"),
    (
        Build,
        r"^go: .*\b(cannot|no required module|unknown|missing|invalid|error|errors|failed|not found|malformed|inconsistent)\b",
    ),
    (
        Build,
        r"^(Found|found|total|Total:?) [1-9]\d* errors?\b|^[1-9]\d* (errors?|problems? \([1-9]\d* errors?,.*)( (generated|found|detected|occurred|reported|in \d.*|and \d+ warnings?.*))?[.)]*$",
    ),
    (Build, r"^\d+ warnings? and [1-9]\d* errors? generated|^[Ee]rrors?( count| found)?\s*: +[1-9]\d*$"),
    (Build, r"^#\d+ (\d+\.\d+ )?ERROR\b|^(docker: )?Error response from daemon:|^Error from server\b"),
    // Package managers.
    (
        Package,
        r"^npm (ERR!|error)( |$)|^ERR_(PNPM|YARN)_\w+|^(ELIFECYCLE|ERESOLVE)\b|^error (Command failed|An unexpected error|Couldn't|Your lockfile|Package)",
    ),
    (
        Package,
        r"^E: \S|^(pip|uv|poetry|apt|brew|gem|composer|yarn|pnpm|bun)( \w+)?: error\b|^dpkg: error\b|^No matching distribution found",
    ),
    // Git.
    (Git, r"^(remote: )?(fatal|Fatal|FATAL): \S"),
    (
        Git,
        r"^!\s+\[(remote )?rejected\]|^CONFLICT \(|^Automatic merge failed|^git@\S+: Permission denied|^(error|remote: error): (failed to push|pathspec|Your local changes|could not apply)",
    ),
    // HTTP.
    (Http, r"^(< |\* )?HTTP(/\d(\.\d)?)? [45]\d\d\b|\x22[A-Z]+ \S+ HTTP/\d(\.\d)?\x22 5\d\d\b"),
    (
        Http,
        r"^(HTTP )?([Ss]tatus( [Cc]ode)?:? |ERROR )?(4\d\d|5\d\d):? (Bad Request|Unauthorized|Payment Required|Forbidden|Not Found|Method Not Allowed|Request Timeout|Conflict|Gone|Payload Too Large|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?[Oo]ut)",
    ),
    (
        Http,
        r"^(Request failed|request failed|Server responded|Received response) with (status )?(code )?[45]\d\d\b|^curl: \(\d+\) |^HTTPError\b|^HTTP [Ee]rror:? \d",
    ),
    // Exceptions.
    (
        Exception,
        r"^Traceback \(most recent call last\)|^Exception( in |:)|^exception: \S|^(Exception Group|ExceptionGroup)\b",
    ),
    (
        Exception,
        r"^(Uncaught|Unhandled|uncaught|unhandled)( \(in promise\))?:? ?([Ee]xception|[Ee]rror|(\w+\.)*[A-Z]\w*(Error|Exception))\b",
    ),
    (
        Exception,
        r"^(An? |The )?((unhandled|uncaught|unexpected|[Uu]nknown) )?[Ee]xception (was |has been |has )?(thrown|occurred|raised)\b",
    ),
    (
        Exception,
        r"^(Caused by: |Suppressed: )?([a-z_]\w*[.:]+)+(\w+[.$])*[A-Z]\w*(Error|Exception|Failure|Fault)(: .*)?$",
    ),
    (Exception, r"^(Caused by: )?[A-Z]\w*(Error|Exception)( \[[A-Z_]+\]| \(\w+\))?: \S"),
    (Exception, r"^(KeyboardInterrupt|AssertionError|RecursionError|MemoryError|NotImplementedError|StopIteration)$"),
    (
        Exception,
        r"^\(node:\d+\) UnhandledPromiseRejection|^\[UnhandledPromiseRejection|^\*\* \((\w+\.)*\w+(Error|Exception)?\) |^.+:\d+:in [`'].*\((\w+::)*\w+(Error|Exception)?\)$",
    ),
    // Logs, by their level.
    (Log, r"^\[(\S+ )?(ERROR|FATAL|CRITICAL|SEVERE|error|fatal|Error|Fatal|critical)\]|^##\[error\]|^::error( |::)"),
    (
        Log,
        r"^(level|lvl|severity)=\x22?(error|fatal|critical|panic)\b|^\S+ (level|lvl)=(error|fatal|critical|panic)\b|^time=\S+ level=(error|fatal|ERROR)\b",
    ),
    (Log, r"^(FATAL|CRITICAL|SEVERE|EMERGENCY|ALERT)( ERROR)?(:|\s+[^A-Z\s])|^ERROR\s+[^A-Z\s]|^ERROR:"),
    (
        Log,
        r"^\d{4}-\d\d-\d\d.*?[\s\]\[|]\[?(ERROR|FATAL|CRITICAL|SEVERE)\b[\]:|\s]|^\[?[\d:.,TZ -]{8,}\]?[\s:|-]+\[?(?i:error|fatal|critical)\b[\]: ]",
    ),
    (Log, r"\]: error\b"),
    // The word itself at the head; before the shell's rows, whose names of tools would take it for one.
    (Error, r"^(error|Error): +\S"),
    // The shell, the system's tools, exit codes.
    (
        Shell,
        r"^(\S+: )*(line \d+: )?\S.*: (command )?not found$|^(zsh|fish): (command not found|[Uu]nknown command)|^fish: Unknown command",
    ),
    (Shell, r"^'.*' is not recognized as an internal or external command|^.* : The term '.*' is not recognized"),
    (
        Shell,
        r"^[\w./@+\[\]-]+: .*(No such file or directory|Permission denied|Is a directory|Not a directory|File exists|Directory not empty|Operation not permitted|No space left on device|Read-only file system|Connection (refused|reset by peer|timed out)|Too many open files|Text file busy|Exec format error|Broken pipe|cannot execute( binary file)?.*|Input/output error)\W*$",
    ),
    (
        Shell,
        r"^[\w./+-]+: (cannot|can't|unrecognized option|invalid option|illegal option|missing operand|unknown option|Could not resolve|connect to host) ?\S*",
    ),
    (
        Shell,
        r"^(ba|z|da|k|a)?sh: .*(syntax error|unbound variable|bad substitution|ambiguous redirect|parse error)|^.*: line \d+: .*(syntax error|unbound variable)",
    ),
    (
        Shell,
        r"^(Permission denied|No such file or directory|No space left on device|Connection refused|Connection timed out|Access denied)\b[^a-z]*",
    ),
    (
        Shell,
        r"^(E(NOENT|ACCES|PERM|CONNREFUSED|CONNRESET|ADDRINUSE|TIMEDOUT|NOTFOUND|EXIST|ISDIR|NOTDIR|NOSPC|MFILE|PIPE|AI_AGAIN)): ",
    ),
    (
        Shell,
        r"^(\S.* )?([Ee]xited|returned|completed|terminated|finished|failed) (with )?(a )?(non-?zero )?(exit )?(code|status):? (-[1-9]|[1-9])\d*\b",
    ),
    (
        Shell,
        r"^([Ee]xit (code|status):? ?|exit status: )(-[1-9]|[1-9])\d*\b|^(The )?[Cc]ommand failed(:| with| after)|^(subprocess\.)?CalledProcessError\b",
    ),
    // What is left: the word itself at the head, or behind the name of a tool.
    (
        Error,
        r"^((Internal|Syntax|Runtime|Type|Parse|Build|Compile|Compilation|Linker|Validation|Config(uration)?|Network|Connection|Internal [Ss]erver) )?(error|Error|ERROR)( ?\([\w -]+\)| [\[#]?\w*\d\]?)?: *\S",
    ),
    (
        Error,
        r"^([\w.@/+\\\[\]-]+: ){1,3}(fatal |internal |hard |general |syntax )?(error|Error|ERROR|fatal|FATAL): *\S",
    ),
    (Error, r"^Link: error\b|^[Ff]atal( \w+)? (error|exception)( in |:)|^(Unrecoverable|Fatal) error\b"),
    (
        Error,
        r"^(An? |The following )?(unexpected |unknown |internal |fatal |unhandled )*([Ee]rrors?) (has |have )?(occurred|encountered)\b",
    ),
    (Error, r"^(error: |Error: )?Failed to [a-z]+ \S"),
];

/// Reports that may stand anywhere in a line, if it is no talk of what may happen or has been cured.
pub(super) const LOOSE: &[(ErrorKind, &str)] = &[
    (Error, r"\bError occurred\b"),
    (Error, r"\bfailed with (an? )?(\w+ )?(error|exception)"),
    (Exception, r"\bunhandled exception\b"),
];

/// Lines that are no report, whatever else they look like.
pub(super) const VETOES: &[&str] = &[
    // The value says that there is none.
    r"(?i)^[\[\w .*()-]*\b(errors?|fatal|exceptions?|failures?|problems?)\]?[[:punct:]\s]*[:=][[:punct:]\s]*(none|null|nil|n/?a|no|false|0|ok|empty|nothing|undefined|not applicable)?[[:punct:]\s]*$",
    r"(?i)\b(errors?|exceptions?|failures?) *[:=] *(none|nothing|no (errors?|problems?|issues?|failures?|exceptions?))( (was|were|is|are|has been|have been))?( (found|so far|yet|reported|detected|encountered|raised|occurred|remaining|here))?[[:punct:]\s]*$",
    r"(?i)\b(no|0|zero|without( any)?) (\w+ )?(errors?|exceptions?|failures?) (occurred|found|reported|detected|encountered|raised|thrown|remain)",
    // Another level than error.
    r"(?i)^(\S+[: ] ?)?\[?(warning|warn|note|hint|help|info|debug|trace|notice|todo|example|e\.g\.|i\.e\.)\]?(\[[\w:-]+\])?:",
    r"(?i)^\S+:\d+(:\d+)?: (warning|note|info|hint)\b|^(npm|yarn|pnpm) (warn|notice)\b",
    r"^(\S+ )?\[?(INFO|DEBUG|TRACE|WARN|WARNING|NOTICE)\]?[ :\]]",
    // Expected to fail, or skipped.
    r"(?i)^not ok\b.*# *(todo|skip)",
    // A definition of the exception, not its arrival.
    r"^(\w+\.)*\w+(Error|Exception): (is |was |are )?(thrown|raised|returned|used|occurs|represents|added|new|now|base|custom|when|if|for|handled|renamed|moved|removed|fixed)\b",
    // Progress of go's modules, whose names may hold any word.
    r"^go: (downloading|finding|extracting|added|upgraded|downgraded|removed|creating|switching|to add)\b",
    // A heading.
    r"^#{1,6} ",
    // Already cured.
    r"(?i)^\W*(i (have )?)?(fixed|resolved|corrected|repaired|addressed)\b",
    r"(?i)\b\d+ (errors?|failures?|failing tests?)( were| was| have been)? (fixed|resolved|corrected|handled)|\b(found|detected) and (fixed|resolved|corrected)\b",
];

/// What turns a [`LOOSE`] sign into talk, a command or code.
pub(super) const CONDITIONAL: &[&str] = &[
    r"(?i)\b(if|when|whenever|unless|until|should|would|could|might|may|in case|which|that|previously|earlier|no longer|used to|fix(ed|es)?|resolved?|instead of|never|not|no|without|handle[ds]?|handling|tests? (that|for)|ensures?|checks?|logs?|prints?|returns?|shows?|before|because of)\b.*\b(error|exception)",
    r"^\s*(\$|%|>|❯|-|\*|\+|//|/\*|#|<!--)|^\d+[.)] ",
    r"^(sudo )?(grep|egrep|rg|ag|ack|sed|awk|git|echo|printf|find|cat|jq)\s",
    r"^(pub |async |export |static |private |public |protected )*(fn|let|const|var|return|else|for|while|match|class|struct|enum|impl|def|import|from|use|throw|raise|catch|except|function|interface|package|assert\w*|console\.\w+|logger\.\w+|logging\.\w+|log\.\w+|e?println!?|print|fmt\.\w+)\b",
    r"[;{}]\s*$|^[\x22'`(]",
];
