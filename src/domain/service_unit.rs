//! The file by which a service manager of the person's starts the host with their session: systemd's or launchd's.
//!
//! Formats: `systemd.service(5)`, `systemd.syntax(7)` and `launchd.plist(5)`.

use crate::base::text::as_xml;
use std::fmt::Write as _;

/// A service manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    Systemd,
    Launchd,
}

impl Manager {
    /// The one of this system.
    pub const HERE: Self = if cfg!(target_os = "macos") { Self::Launchd } else { Self::Systemd };

    /// The file's name.
    pub fn file(self) -> &'static str {
        match self {
            Self::Systemd => "programmator-host.service",
            Self::Launchd => "programmator.host.plist",
        }
    }

    /// What the file says. `program`: its absolute path; `variables`: those of the environment that the host is started with.
    pub fn text(self, program: &str, variables: &[(&str, &str)]) -> String {
        match self {
            Self::Systemd => systemd(program, variables),
            Self::Launchd => launchd(program, variables),
        }
    }
}

/// It ends alone: the runs that it has resumed go on.
fn systemd(program: &str, variables: &[(&str, &str)]) -> String {
    let mut text =
        "[Unit]\nDescription=programmator: resumes background runs that were interrupted\n\n[Service]\n".to_owned();
    let _ = writeln!(text, "ExecStart={} host", quoted(&program.replace('$', "$$")));
    for (name, value) in variables {
        let _ = writeln!(text, "Environment={}", quoted(&format!("{name}={value}")));
    }
    text.push_str("Restart=on-failure\nRestartSec=5\nKillMode=process\n\n[Install]\nWantedBy=default.target\n");
    text
}

/// A word of a unit.
fn quoted(word: &str) -> String {
    let word = word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%").replace('\n', r"\n");
    format!("\"{word}\"")
}

fn launchd(program: &str, variables: &[(&str, &str)]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
        <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>programmator.host</string>\n"
        .to_owned();
    let _ = write!(
        text,
        "  <key>ProgramArguments</key>\n  <array>\n    <string>{}</string>\n    <string>host</string>\n  </array>\n",
        as_xml(program)
    );
    if !variables.is_empty() {
        text.push_str("  <key>EnvironmentVariables</key>\n  <dict>\n");
        for (name, value) in variables {
            let _ = writeln!(text, "    <key>{}</key>\n    <string>{}</string>", as_xml(name), as_xml(value));
        }
        text.push_str("  </dict>\n");
    }
    text.push_str(
        "  <key>RunAtLoad</key>\n  <true/>\n  <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    \
         <false/>\n  </dict>\n  <key>AbandonProcessGroup</key>\n  <true/>\n</dict>\n</plist>\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_the_manager_is_a_letter_in_a_path() {
        let unit = Manager::Systemd.text("/opt/a $b/100%/\"p\"", &[("PATH", "/bin:/o\\p")]);
        assert!(unit.contains("ExecStart=\"/opt/a $$b/100%%/\\\"p\\\"\" host\n"), "{unit}");
        assert!(unit.contains("Environment=\"PATH=/bin:/o\\\\p\"\n"), "{unit}");
        let list = Manager::Launchd.text("/opt/<a>&b", &[("PATH", "/x&y")]);
        assert!(list.contains("<string>/opt/&lt;a&gt;&amp;b</string>") && list.contains("<string>/x&amp;y</string>"));
    }

    #[test]
    fn runs_outlive_the_host_which_is_started_again_when_it_fails() {
        let unit = Manager::Systemd.text("/p", &[]);
        assert!(unit.contains("KillMode=process\n") && unit.contains("Restart=on-failure\n"), "{unit}");
        let list = Manager::Launchd.text("/p", &[]);
        assert!(list.contains("<key>AbandonProcessGroup</key>\n  <true/>") && !list.contains("EnvironmentVariables"));
    }
}
