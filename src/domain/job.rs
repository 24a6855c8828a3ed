//! A Kubernetes Job that works through a ticket: the objects that `kubectl apply` takes. Values reach the scripts by variables
//! alone, and credentials by the name of a secret.
//!
//! Source of the shapes: <https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.33/>.

use crate::base::hex::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const CLONE: &str = include_str!("job/clone.sh");
const RUN: &str = include_str!("job/run.sh");
const LEAVE: &str = include_str!("job/leave.sh");
/// Most characters of a name that we make: a Job's is the beginning of its pod's, which has 63.
const NAME: usize = 48;
/// A run that ended so ends the same at a second try; the others may pass: a failure, a ticket in use. 6: the push was refused.
const FINAL: [u8; 6] = [2, 3, 4, 5, 6, 77];
/// What cannot be cloned, or was cloned with another text of the ticket.
const NOT_CLONED: [u8; 1] = [2];
/// Most bytes of a ticket: a `ConfigMap` has 1 MiB in all.
pub const LARGEST: usize = 900_000;

/// What a Job is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The ticket's id.
    pub ticket: String,
    /// Where its file goes, relative to the top of the repository.
    pub path: String,
    /// The folder that the run is in, relative to the top; empty: the top itself.
    pub folder: String,
    pub text: String,
    pub image: String,
    /// The address that is cloned.
    pub repo: String,
    /// What is cloned of it; `None`: its default branch.
    pub branch: Option<String>,
    /// The branch that the work is pushed to; `None`: it becomes a patch on the volume.
    pub push: Option<String>,
    pub namespace: Option<String>,
    /// The secret with `ANTHROPIC_API_KEY` and, where it is needed, `GIT_TOKEN`.
    pub secret: String,
    /// The size of the volume, as `10Gi`.
    pub storage: String,
}

/// Whose home folder a container has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Home {
    /// One that Claude cannot write to: git reads its settings there, and they can have it run anything, beside the token.
    ForGit,
    OfClaude,
}

/// What is in the environment with each home folder.
const GIT: [(&str, &str); 7] = [
    ("HOME", "/git"),
    ("TMPDIR", "/git"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_0", "/dev/null"),
];
const CLAUDE: [(&str, &str); 4] = [
    ("HOME", "/volume/home"),
    ("TMPDIR", "/tmp"),
    ("PROGRAMMATOR_STATE_DIR", "/volume/state"),
    ("PROGRAMMATOR_CONFIG_DIR", "/volume/config"),
];

impl Job {
    /// What its objects are called.
    pub fn name(&self) -> String {
        let plain: String =
            self.ticket.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
        let name = format!("programmator-{}", plain.trim_matches('-'));
        // Two tickets must not come to the same name, nor those of two repositories.
        let mark = Sha256::digest(format!("{}\n{}", self.ticket, self.repo));
        let mark = hex(&mark[..3]);
        let cut: String = name.chars().take(NAME - 7).collect();
        format!("{}-{mark}", cut.trim_matches('-'))
    }

    /// The objects, in the order in which they are made.
    pub fn objects(&self) -> [Value; 3] {
        let name = self.name();
        let head = |kind: &str, api: &str| {
            let mut metadata = json!({"name": name, "labels": {"app.kubernetes.io/name": "programmator"}});
            if let Some(namespace) = &self.namespace {
                metadata["namespace"] = namespace.as_str().into();
            }
            json!({"apiVersion": api, "kind": kind, "metadata": metadata})
        };
        let mut ticket = head("ConfigMap", "v1");
        ticket["data"] = json!({"ticket.md": self.text});
        let mut volume = head("PersistentVolumeClaim", "v1");
        volume["spec"] =
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": self.storage}}});
        let mut job = head("Job", "batch/v1");
        job["spec"] = json!({
            "backoffLimit": 2,
            "podFailurePolicy": {"rules": [
                {"action": "Ignore", "onPodConditions": [
                    {"type": "DisruptionTarget", "status": "True"}, // Kubernetes before 1.35 requires both.
                ]},
                {"action": "FailJob", "onExitCodes": {"containerName": "leave", "operator": "In", "values": FINAL}},
                {"action": "FailJob", "onExitCodes": {"containerName": "clone", "operator": "In", "values": NOT_CLONED}},
            ]},
            "template": {"spec": self.pod(&name)},
        });
        [ticket, volume, job]
    }

    fn pod(&self, name: &str) -> Value {
        json!({
            "restartPolicy": "Never",
            "automountServiceAccountToken": false,
            "securityContext": {
                "runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000, "fsGroup": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "initContainers": [
                self.container("clone", CLONE, Some("GIT_TOKEN"), Home::ForGit),
                self.container("run", RUN, Some("ANTHROPIC_API_KEY"), Home::OfClaude),
            ],
            "containers": [self.container("leave", LEAVE, self.push.as_ref().map(|_| "GIT_TOKEN"), Home::ForGit)],
            "volumes": [
                {"name": "work", "persistentVolumeClaim": {"claimName": name}},
                {"name": "ticket", "configMap": {"name": name}},
                {"name": "tmp", "emptyDir": {}},
                {"name": "git", "emptyDir": {}},
            ],
        })
    }

    /// `key`: of the secret, the only one that the container gets.
    fn container(&self, name: &str, script: &str, key: Option<&str>, home: Home) -> Value {
        let plain = |name: &str, value: &str| json!({"name": name, "value": value});
        let mut env = vec![
            plain("WORK", "/volume"),
            plain("FROM", "/ticket/ticket.md"),
            plain("NAME", &self.name()),
            plain("ID", &self.ticket),
            plain("TICKET", &self.path),
            plain("FOLDER", &self.folder),
            plain("REPO", &self.repo),
            plain("BRANCH", self.branch.as_deref().unwrap_or_default()),
            plain("PUSH", self.push.as_deref().unwrap_or_default()),
        ];
        let (of_home, (volume, path)): (&[_], _) = match home {
            Home::ForGit => (&GIT, ("git", "/git")),
            Home::OfClaude => (&CLAUDE, ("tmp", "/tmp")),
        };
        env.extend(of_home.iter().map(|(name, value)| plain(name, value)));
        env.extend(key.map(|key| {
            let from = json!({"name": self.secret, "key": key, "optional": home == Home::ForGit});
            json!({"name": key, "valueFrom": {"secretKeyRef": from}})
        }));
        json!({
            "name": name,
            "image": self.image,
            "command": ["/bin/sh", "-c", script],
            "env": env,
            "workingDir": path,
            "securityContext": {
                "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [
                {"name": "work", "mountPath": "/volume"},
                {"name": "ticket", "mountPath": "/ticket", "readOnly": true},
                {"name": volume, "mountPath": path},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(ticket: &str) -> Job {
        let path = format!(".tickets/{ticket}.md");
        Job {
            ticket: ticket.into(),
            path,
            folder: String::new(),
            text: "# A\n".into(),
            image: "programmator:1".into(),
            repo: "https://example.com/a.git".into(),
            branch: None,
            push: None,
            namespace: None,
            secret: "keys".into(),
            storage: "10Gi".into(),
        }
    }

    #[test]
    fn a_name_is_one_that_kubernetes_takes_and_no_other_tickets() {
        let name = job("tk-4f2a").name();
        assert!(name.starts_with("programmator-tk-4f2a-"), "{name}");
        assert_ne!(Job { repo: "https://example.com/b.git".into(), ..job("tk-4f2a") }.name(), name);
        let names = ["Tk_4f2a", "tk.4f2a", &"x".repeat(90), "-", "é"].map(|ticket| job(ticket).name());
        for name in &names {
            assert!(name.len() <= NAME && !name.starts_with('-') && !name.ends_with('-'), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'), "{name}");
        }
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn where_the_token_is_nothing_is_mounted_that_claude_can_write_to_but_the_volume_and_git_has_no_settings() {
        let [_, _, job] = job("tk-1").objects();
        let spec = &job["spec"]["template"]["spec"];
        let mounts = |container: &Value| {
            let mounts = container["volumeMounts"].as_array().unwrap().iter();
            mounts.map(|mount| mount["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let (clone, run, leave) = (&spec["initContainers"][0], &spec["initContainers"][1], &spec["containers"][0]);
        assert_eq!(mounts(run), ["work", "ticket", "tmp"]);
        for container in [clone, leave] {
            assert_eq!(mounts(container), ["work", "ticket", "git"]);
            assert_eq!(container["workingDir"], "/git");
            let env = container["env"].as_array().unwrap();
            for (name, value) in GIT {
                assert!(env.contains(&json!({"name": name, "value": value})), "{name}");
            }
        }
    }

    #[test]
    fn each_container_has_the_one_credential_that_it_needs() {
        let keys = |job: &Job| {
            let [_, _, job] = job.objects();
            let spec = &job["spec"]["template"]["spec"];
            let all = spec["initContainers"].as_array().unwrap().iter().chain(spec["containers"].as_array().unwrap());
            all.map(|container| {
                assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
                let env = container["env"].as_array().unwrap();
                let secret = env.iter().filter(|one| one["valueFrom"].is_object());
                secret.map(|one| one["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>().concat()
            })
            .collect::<Vec<_>>()
        };
        assert_eq!(keys(&job("tk-1")), ["GIT_TOKEN", "ANTHROPIC_API_KEY", ""]);
        let pushes = Job { push: Some("work".into()), ..job("tk-1") };
        assert_eq!(keys(&pushes), ["GIT_TOKEN", "ANTHROPIC_API_KEY", "GIT_TOKEN"]);
    }
}
