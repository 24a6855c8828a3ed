//! The roles a theme gives a style to. Code names roles; only themes name colours.

use crate::domain::worded::worded;

worded! {
    /// What a piece of the screen means. `Role::word` is its key in theme files; a theme that has no
    /// `phase.running` uses its `phase`, else its `text`.
    pub enum Role {
        Text = "text",
        Dim = "dim",
        Title = "title",
        Accent = "accent",
        Success = "success",
        Warning = "warning",
        Danger = "danger",
        Info = "info",
        Border = "border",
        BorderFocus = "border.focus",
        Selection = "selection",
        Cursor = "cursor",
        TabActive = "tab.active",
        TabIdle = "tab.idle",
        TabAttention = "tab.attention",
        PhasePending = "phase.pending",
        PhaseRunning = "phase.running",
        PhaseClaimed = "phase.claimed",
        PhaseDone = "phase.done",
        PhaseUnchecked = "phase.unchecked",
        PhaseDisputed = "phase.disputed",
        PhaseSkipped = "phase.skipped",
        PhaseBlocked = "phase.blocked",
        StreamText = "stream.text",
        StreamThinking = "stream.thinking",
        StreamTool = "stream.tool",
        StreamTarget = "stream.target",
        StreamCode = "stream.code",
        StreamResult = "stream.result",
        StreamError = "stream.error",
        StreamPerson = "stream.person",
        StreamStatus = "stream.status",
        StreamDivider = "stream.divider",
        SyntaxKeyword = "syntax.keyword",
        SyntaxString = "syntax.string",
        SyntaxComment = "syntax.comment",
        SyntaxNumber = "syntax.number",
        SyntaxType = "syntax.type",
        SyntaxFunction = "syntax.function",
        DiffAdd = "diff.add",
        DiffDel = "diff.del",
        DiffAddWord = "diff.add.word",
        DiffDelWord = "diff.del.word",
        DiffContext = "diff.context",
        GaugeFill = "gauge.fill",
        GaugeTrack = "gauge.track",
        GaugeWarning = "gauge.warning",
        GaugeDanger = "gauge.danger",
        LogInfo = "log.info",
        LogWarn = "log.warn",
        LogError = "log.error",
        LogGate = "log.gate",
        Key = "key",
        Hint = "hint",
        Input = "input",
        Toast = "toast",
    }
}

impl Role {
    /// Lines and tracks, which nobody reads: they may be fainter than text.
    pub fn is_line(self) -> bool {
        matches!(self, Self::Border | Self::BorderFocus | Self::GaugeTrack)
    }
}
