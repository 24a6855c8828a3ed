//! A machine that `ssh` leads to: a real sshd of the test's own, on loopback, with keys made here.

use super::*;
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// How often the connection is cut while a run works, if `SSH_CUTS` does not say it.
const CUTS: u32 = 5;

/// An sshd that lets in whoever has its key; it ends with this.
struct Sshd {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl Sshd {
    fn start(project: &Project) -> Self {
        let folder = project.path("ssh");
        fs::create_dir(&folder).expect("a folder");
        for key in ["host", "person"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(key))
                .status()
                .expect("ssh-keygen, of Debian's openssh-client");
            assert!(made.success());
        }
        // A folder that the service's own start makes; sshd wants it where it is root.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").expect("a folder");
        }
        let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {0}/host\nAuthorizedKeysFile {0}/person.pub\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPidFile none\nMaxStartups 100\n",
            folder.display()
        );
        fs::write(folder.join("config"), settings).expect("it is written");
        let log = fs::File::create(folder.join("log")).expect("a log");
        let process = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(folder.join("config"))
            .stdin(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("sshd, of Debian's openssh-server");
        let sshd = Self { process, port, folder };
        let deadline = Instant::now() + PATIENCE;
        while !sshd.log().contains("Server listening on") {
            assert!(Instant::now() < deadline, "{}", sshd.log());
            std::thread::yield_now();
        }
        sshd
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).expect("a log")
    }

    /// The words of the command that leads to this machine.
    fn way_to(&self, far: &Project) -> Vec<String> {
        let (folder, port) = (self.folder.display(), self.port);
        let options = format!(
            "ssh -F none -p {port} -i {folder}/person -o UserKnownHostsFile={folder}/known \
             -o StrictHostKeyChecking=accept-new -o BatchMode=yes 127.0.0.1"
        );
        options.split_whitespace().map(str::to_owned).chain([serving(far, "")]).collect()
    }

    /// Kills what sshd has at work for each connection.
    fn cut(&self) {
        let sshd = self.process.id();
        let connections = fs::read_to_string(format!("/proc/{sshd}/task/{sshd}/children")).expect("it is at work");
        assert!(!connections.trim().is_empty(), "{}", self.log());
        for pid in connections.split_whitespace() {
            let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a number");
            // One that has just ended by itself is cut, too.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_run_that_ssh_leads_to_is_seen_and_answered_here() {
    let far = begun(&[WRITE, PUSH]);
    asked(&far);
    let sshd = Sshd::start(&far);
    let near = near(&sshd.way_to(&far), "");
    assert_eq!(json(&near, &["status", "--on", "build", "--json"])[0]["ticket"], "tk-1");
    seen_and_answered(&far, &near);
}

#[test]
fn an_ssh_connection_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let far = trusted(&TALKING);
    let sshd = Sshd::start(&far);
    let near = near(&sshd.way_to(&far), "");
    let times = std::env::var("SSH_CUTS").map_or(CUTS, |times| times.parse().expect("a number"));
    cut_while_it_works(&far, &near, times, || sshd.cut());
}
