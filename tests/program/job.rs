//! A Kubernetes Job for a ticket: its manifest, and its scripts as they work on a volume.

use crate::project::{PROGRAM, Project};
use crate::watched::{DILIGENT, said, text};
use serde_json::{Value, json as value};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output};

const REPO: [&str; 2] = ["--repo", "https://example.com/shop.git"];
/// What the name of a Job has of its ticket and this repository.
const MARK: &str = "081df5";

/// The objects that are printed for `tk-1`.
fn objects(project: &Project, more: &[&str]) -> Vec<Value> {
    let output = project.run(&[&["job", "tk-1"], &REPO[..], more].concat());
    assert!(output.status.success(), "{}", text(&output));
    let printed = String::from_utf8(output.stdout).expect("text");
    // The ticket has such lines, too, further in.
    format!("\n{printed}").split("\n---\n").skip(1).map(|one| serde_yaml::from_str(one).expect("YAML")).collect()
}

/// One container after the other, on a volume in the project's folder.
struct Pod<'a> {
    project: &'a Project,
    containers: Vec<Value>,
    origin: PathBuf,
}

impl Pod<'_> {
    /// Where a path of the container is here.
    fn place(&self, value: &str) -> String {
        let places =
            [("/volume", "volume"), ("/ticket/ticket.md", "ticket.md"), ("/tmp", "volume-tmp"), ("/git", "git")];
        let place = places.iter().find_map(|(there, here)| value.strip_prefix(there).map(|rest| (here, rest)));
        place.map_or_else(|| value.to_owned(), |(here, rest)| format!("{}{rest}", self.project.path(here).display()))
    }

    fn succeeds(&self, name: &str) {
        let output = self.run(name);
        assert!(output.status.success(), "{name}: {}", text(&output));
        assert!(!text(&output).contains("s3cret"));
    }

    fn fails(&self, name: &str, code: i32) -> String {
        let output = self.run(name);
        assert_eq!(output.status.code(), Some(code), "{name}: {}", text(&output));
        text(&output)
    }

    fn run(&self, name: &str) -> Output {
        let container = self.containers.iter().find(|one| one["name"] == name).expect("a container");
        let words: Vec<&str> =
            container["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_clear().current_dir(self.place(container["workingDir"].as_str().unwrap()));
        for variable in container["env"].as_array().unwrap() {
            let value = variable["value"].as_str().unwrap_or("s3cret");
            command.env(variable["name"].as_str().unwrap(), self.place(value));
        }
        let bin = PathBuf::from(PROGRAM).parent().unwrap().display().to_string();
        command.env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap())).env("REPO", &self.origin);
        if name == "run" {
            command.env("PROGRAMMATOR_CONFIG_DIR", self.project.path("config"));
        }
        command.output().expect("it starts")
    }
}

/// The pod of a Job whose ticket is only here, not in the repository that is cloned.
fn pod<'a>(project: &'a Project, more: &[&str]) -> Pod<'a> {
    for folder in ["volume", "volume-tmp", "git"] {
        std::fs::create_dir_all(project.path(folder)).unwrap();
    }
    let origin = project.path("origin.git");
    project.git(&["clone", "-q", "--bare", ".", &origin.display().to_string()]);
    let objects = objects(project, more);
    project.write("ticket.md", objects[0]["data"]["ticket.md"].as_str().unwrap());
    let spec = &objects[2]["spec"]["template"]["spec"];
    let all = ["initContainers", "containers"].map(|kind| spec[kind].as_array().unwrap().clone());
    Pod { project, containers: all.concat(), origin }
}

#[test]
fn the_manifest_is_of_the_form_that_kubernetes_takes() {
    let project = Project::with(&["Alpha: \"quoted\", `ticked` and $(named)"], DILIGENT);
    let objects = objects(&project, &["--namespace", "agents", "--secret", "keys", "--push"]);
    let kinds: Vec<_> = objects.iter().map(|one| format!("{} {}", one["apiVersion"], one["kind"])).collect();
    assert_eq!(kinds, ["\"v1\" \"ConfigMap\"", "\"v1\" \"PersistentVolumeClaim\"", "\"batch/v1\" \"Job\""]);
    for object in &objects {
        assert_eq!(
            (&object["metadata"]["name"], &object["metadata"]["namespace"]),
            (&format!("programmator-tk-1-{MARK}").into(), &"agents".into())
        );
    }
    assert_eq!(objects[0]["data"]["ticket.md"], project.ticket_text("tk-1"));
    let spec = &objects[2]["spec"];
    assert_eq!(spec["podFailurePolicy"]["rules"][1]["onExitCodes"]["values"], value!([2, 3, 4, 5, 6, 77]));
    let pod = &spec["template"]["spec"];
    assert_eq!((&pod["automountServiceAccountToken"], &pod["restartPolicy"]), (&false.into(), &"Never".into()));
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    let volumes: Vec<_> = pod["volumes"].as_array().unwrap().iter().map(|volume| &volume["name"]).collect();
    for container in ["initContainers", "containers"].iter().flat_map(|kind| pod[*kind].as_array().unwrap()) {
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert!(container["volumeMounts"].as_array().unwrap().iter().all(|mount| volumes.contains(&&mount["name"])));
        let secrets = container["env"].as_array().unwrap().iter().filter(|one| one["value"].is_null());
        assert!(
            secrets.clone().count() == 1
                && secrets.clone().all(|one| one["valueFrom"]["secretKeyRef"]["name"] == "keys")
        );
    }
}

#[test]
fn what_cannot_be_cloned_there_or_would_print_a_credential_is_refused() {
    let project = Project::with(&["Alpha"], DILIGENT);
    assert!(said(&project, &["job", "tk-1"], 2).contains("no remote `origin` here"));
    let told = said(&project, &["job", "tk-1", "--repo", "https://me:s3cret@example.com/a.git"], 2);
    assert!(told.contains("contains a user name or password") && !told.contains("s3cret"), "{told}");
    assert!(said(&project, &["job", "tk-1", "--repo", "git@example.com:a.git"], 2).contains("is not an https URL"));
    let told = said(&project, &["job", "tk-1", "--repo", REPO[1], "--push", "--force"], 2);
    assert!(told.contains("--force"), "{told}");
    assert!(said(&project, &["job", "tk-1", "--repo", REPO[1], "--branch", "a b"], 2).contains("is not a branch name"));
}

#[test]
fn a_complete_run_leaves_a_branch_and_its_job_is_complete() {
    let project = Project::with(&["Alpha"], DILIGENT);
    let pod = pod(&project, &["--push"]);
    // The second try of a Job begins with the first container again.
    for name in ["clone", "run", "clone", "leave"] {
        pod.succeeds(name);
    }
    let origin = pod.origin.display().to_string();
    let files = project.git(&["--git-dir", &origin, "ls-tree", "-r", "--name-only", "programmator/tk-1"]);
    assert!(files.contains("alpha.txt") && files.contains(".tickets/tk-1.md"), "{files}");
    let ticket = project.git(&["--git-dir", &origin, "show", "programmator/tk-1:.tickets/tk-1.md"]);
    assert!(ticket.contains("- [x] Alpha"), "{ticket}");
}

#[test]
fn the_work_of_a_run_that_has_stopped_is_a_patch_and_its_job_fails_with_its_code() {
    let blocked = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"half.txt\", content: \"half\\n\"}
      - status: {summary: \"cannot go on\", status: BLOCKED}
";
    let project = Project::with(&["Alpha"], blocked);
    let pod = pod(&project, &[]);
    assert_eq!(pod.run("leave").status.code(), Some(1), "nothing was run");
    for name in ["clone", "run"] {
        let output = pod.run(name);
        assert!(output.status.success(), "{name}: {}", text(&output));
    }
    let output = pod.run("leave");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let patch = project.read("volume/out/tk-1.patch");
    assert!(patch.contains("+++ b/half.txt"), "{patch}");
    // Where it cannot be written the Job fails, whatever the run came to.
    std::fs::write(project.path("volume/code"), "0").unwrap();
    std::fs::remove_dir_all(project.path("volume/out")).unwrap();
    assert_ne!(pod.run("leave").status.code(), Some(0));
}

#[test]
fn nothing_that_claude_leaves_is_run_where_the_token_is() {
    let project = Project::with(&["Alpha"], DILIGENT);
    let pod = pod(&project, &["--push"]);
    pod.succeeds("clone");
    pod.succeeds("run");
    // Whoever is run tells of the token in its own environment, and in that of its parent.
    let (heard, spy) = (project.path("heard"), project.path("volume/spy"));
    let heard_of = format!("#!/bin/sh\n(env; cat /proc/$PPID/environ) >> '{}'\n", heard.display());
    let hooks = ["reference-transaction", "pre-push", "post-checkout"].map(|hook| spy.join(hook));
    std::fs::create_dir(&spy).unwrap();
    for file in hooks.iter().chain([&spy.join("pack")]) {
        std::fs::write(file, &heard_of).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let settings = format!(
        "[core]\n\thooksPath = {0}\n\tfsmonitor = {0}/pack\n\talternateRefsCommand = {0}/pack\n[uploadpack]\n\tpackObjectsHook = {0}/pack\n\
         [credential]\n\thelper = {0}/pack\n[init]\n\ttemplateDir = {0}\n",
        spy.display()
    );
    project.write("volume/home/.gitconfig", &settings);
    project.write("volume-tmp/.gitconfig", &settings);
    let own = project.read("volume/repo/.git/config").replace("[core]\n", &settings);
    project.write("volume/repo/.git/config", &own);
    project.write("volume/.git/HEAD", "ref: refs/heads/main\n");
    project.write("volume/.git/config", &settings);
    for folder in ["objects", "refs"] {
        std::fs::create_dir(project.path("volume/.git").join(folder)).unwrap();
    }
    pod.succeeds("clone");
    pod.succeeds("leave");
    assert!(!heard.exists(), "{}", project.read("heard"));
    // It is cloned again, and what stands in the bundle's place is a repository.
    std::fs::rename(project.path("volume/repo"), project.path("volume/other")).unwrap();
    pod.succeeds("clone");
    std::fs::remove_file(project.path("volume/done.bundle")).unwrap();
    let (bundle, other) = (project.path("volume/done.bundle"), project.path("volume/other"));
    symlink(&other, &bundle).unwrap();
    assert!(pod.fails("leave", 1).contains("the run has left no commits"));
    std::fs::remove_file(&bundle).unwrap();
    std::fs::write(&bundle, format!("gitdir: {}\n", other.join(".git").display())).unwrap();
    assert!(pod.fails("leave", 1).contains("the run has left no commits"));
    std::fs::remove_file(&bundle).unwrap();
    std::fs::rename(&other, &bundle).unwrap();
    assert!(pod.fails("leave", 1).contains("the run has left no commits"));
    let code = project.path("volume/code");
    std::fs::remove_file(&code).unwrap();
    symlink("/proc/self/environ", &code).unwrap();
    assert!(pod.fails("leave", 1).ends_with("the run has left no exit code\n"));
    assert!(!heard.exists(), "{}", project.read("heard"));
}

#[test]
fn a_ticket_of_a_folder_further_in_is_worked_on_there() {
    let project = Project::with(&["Alpha"], DILIGENT);
    let ticket = project.ticket_text("tk-1");
    project.write("work/shop/.tickets/tk-1.md", &ticket);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "A folder"]);
    std::fs::remove_dir_all(project.path("work/.tickets")).unwrap();
    let pod = pod(&project, &["-C", &project.path("work/shop").display().to_string(), "--push"]);
    for name in ["clone", "run", "leave"] {
        pod.succeeds(name);
    }
    let origin = pod.origin.display().to_string();
    let files = project.git(&["--git-dir", &origin, "ls-tree", "-r", "--name-only", "programmator/tk-1"]);
    assert!(files.contains("shop/alpha.txt"), "{files}");
    let ticket = project.git(&["--git-dir", &origin, "show", "programmator/tk-1:shop/.tickets/tk-1.md"]);
    assert!(ticket.contains("- [x] Alpha"), "{ticket}");
}

#[test]
fn a_link_in_the_tickets_place_is_refused_and_what_it_leads_to_stays() {
    for place in ["work/.tickets", "work/.tickets/tk-1.md"] {
        let project = Project::with(&["Alpha"], DILIGENT);
        let there = project.path("there");
        std::fs::rename(project.path(place), &there).unwrap();
        symlink(&there, project.path(place)).unwrap();
        project.git(&["add", "-A", "-f"]);
        project.git(&["commit", "-q", "-m", "A link"]);
        std::fs::remove_file(project.path(place)).unwrap();
        std::fs::rename(&there, project.path(place)).unwrap();
        let pod = pod(&project, &[]);
        let told = pod.fails("clone", 2);
        assert!(told.contains(place.strip_prefix("work/").unwrap()) && told.contains("is a link"), "{told}");
        assert!(!there.exists() && !project.path("volume/repo").exists());
    }
}

#[test]
fn a_second_job_with_another_text_is_refused_and_a_refused_push_leaves_a_patch() {
    let project = Project::with(&["Alpha"], DILIGENT);
    let pod = pod(&project, &["--push"]);
    pod.succeeds("clone");
    pod.succeeds("run");
    // Somebody has pushed something else there meanwhile.
    project.git(&["checkout", "-q", "-b", "other"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "Else"]);
    project.git(&["push", "-q", &pod.origin.display().to_string(), "other:refs/heads/programmator/tk-1"]);
    let told = pod.fails("leave", 6);
    assert!(told.contains("programmator/tk-1 could not be pushed"), "{told}");
    assert!(project.read("volume/out/tk-1.patch").contains("+++ b/alpha.txt"));
    project.write("ticket.md", "another text");
    let told = pod.fails("clone", 2);
    assert!(told.contains(&format!("kubectl delete job,pvc,cm programmator-tk-1-{MARK}")), "{told}");
}
