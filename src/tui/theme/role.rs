//! The roles a theme gives a style to. Code names roles; only themes name colours.

/// What a piece of the screen means. `Role::name` is its key in theme files; a theme that has no
/// `phase.running` uses its `phase`, else its `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Role {
    Text,
    Dim,
    Title,
    Accent,
    Success,
    Warning,
    Danger,
    Info,
    Border,
    BorderFocus,
    Selection,
    TabActive,
    TabIdle,
    TabAttention,
    PhasePending,
    PhaseRunning,
    PhaseClaimed,
    PhaseDone,
    PhaseUnchecked,
    PhaseDisputed,
    PhaseSkipped,
    PhaseBlocked,
    StreamText,
    StreamThinking,
    StreamTool,
    StreamTarget,
    StreamCode,
    StreamResult,
    StreamError,
    StreamPerson,
    StreamStatus,
    StreamDivider,
    DiffAdd,
    DiffDel,
    DiffContext,
    GaugeFill,
    GaugeTrack,
    GaugeWarning,
    GaugeDanger,
    LogInfo,
    LogWarn,
    LogError,
    LogGate,
    Key,
    Hint,
    Input,
    Toast,
}

impl Role {
    /// Every role with its key in theme files.
    pub const ALL: [(Self, &'static str); 47] = [
        (Self::Text, "text"),
        (Self::Dim, "dim"),
        (Self::Title, "title"),
        (Self::Accent, "accent"),
        (Self::Success, "success"),
        (Self::Warning, "warning"),
        (Self::Danger, "danger"),
        (Self::Info, "info"),
        (Self::Border, "border"),
        (Self::BorderFocus, "border.focus"),
        (Self::Selection, "selection"),
        (Self::TabActive, "tab.active"),
        (Self::TabIdle, "tab.idle"),
        (Self::TabAttention, "tab.attention"),
        (Self::PhasePending, "phase.pending"),
        (Self::PhaseRunning, "phase.running"),
        (Self::PhaseClaimed, "phase.claimed"),
        (Self::PhaseDone, "phase.done"),
        (Self::PhaseUnchecked, "phase.unchecked"),
        (Self::PhaseDisputed, "phase.disputed"),
        (Self::PhaseSkipped, "phase.skipped"),
        (Self::PhaseBlocked, "phase.blocked"),
        (Self::StreamText, "stream.text"),
        (Self::StreamThinking, "stream.thinking"),
        (Self::StreamTool, "stream.tool"),
        (Self::StreamTarget, "stream.target"),
        (Self::StreamCode, "stream.code"),
        (Self::StreamResult, "stream.result"),
        (Self::StreamError, "stream.error"),
        (Self::StreamPerson, "stream.person"),
        (Self::StreamStatus, "stream.status"),
        (Self::StreamDivider, "stream.divider"),
        (Self::DiffAdd, "diff.add"),
        (Self::DiffDel, "diff.del"),
        (Self::DiffContext, "diff.context"),
        (Self::GaugeFill, "gauge.fill"),
        (Self::GaugeTrack, "gauge.track"),
        (Self::GaugeWarning, "gauge.warning"),
        (Self::GaugeDanger, "gauge.danger"),
        (Self::LogInfo, "log.info"),
        (Self::LogWarn, "log.warn"),
        (Self::LogError, "log.error"),
        (Self::LogGate, "log.gate"),
        (Self::Key, "key"),
        (Self::Hint, "hint"),
        (Self::Input, "input"),
        (Self::Toast, "toast"),
    ];

    /// The role's key in theme files.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_roles() {
        for (at, (role, _)) in Role::ALL.iter().enumerate() {
            assert_eq!(*role as usize, at);
        }
    }
}
