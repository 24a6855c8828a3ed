//! `programmator init`: what is found, asked, shown, written, left alone and trusted.

use crate::project::{PROGRAM, Project};
use crate::terminal::{Start, Terminal};
use crate::watched::{DILIGENT, end, run, said, text};
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};

const CONFIG: &str = "work/.programmator/config.yaml";

/// What `init --json` prints.
fn initialised(project: &Project, args: &[&str], code: i32) -> Value {
    let all: Vec<&str> = ["init", "--json"].iter().chain(args).copied().collect();
    let output = project.run(&all);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output));
    serde_json::from_slice(&output.stdout).expect("an object")
}

fn tickets(project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(project.path("work/.tickets")).expect("the tickets folder");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect()
}

#[test]
fn a_repository_is_one_command_away_from_its_first_verified_phase() {
    let project = Project::new();
    project.write("work/Makefile", "test:\n\ttest -e run-every-validation-command-and-fix-what-fails.txt\n");
    let report = initialised(&project, &[], 0);
    assert_eq!(report["decided"]["validation"], serde_json::json!(["make test"]), "{report:#}");
    assert_eq!(report["detected"][0]["evidence"], "Makefile");
    assert_eq!((report["trusted"].clone(), report["already"].clone()), (true.into(), false.into()));
    assert!(project.read(CONFIG).contains("    - \"make test\"  # Makefile\n"), "{}", project.read(CONFIG));
    let [ticket] = &tickets(&project)[..] else { panic!("{:?}", tickets(&project)) };
    project.scenario(DILIGENT);
    let records = run(&project, &[ticket.trim_end_matches(".md")]).1;
    assert_eq!(end(&records), ("complete", 1));
    let ran = crate::watched::of_kind(&records, "validation_ran");
    assert_eq!(ran[0]["command"], "make test", "the project's settings count");
}

#[test]
fn the_second_time_nothing_is_done_and_force_keeps_what_was_there() {
    let project = Project::new();
    project.write("work/Cargo.toml", "[package]\n");
    initialised(&project, &[], 0);
    let config = project.read(CONFIG);
    let again = initialised(&project, &[], 2);
    assert_eq!((again["already"].clone(), again["written"].clone()), (true.into(), serde_json::json!([])));
    assert_eq!(again["trusted"], true);
    assert_eq!(tickets(&project).len(), 1);
    project.write(CONFIG, "limits: {stagnation: 7}\n");
    initialised(&project, &[], 2);
    assert_eq!(project.read(CONFIG), "limits: {stagnation: 7}\n");
    let forced = initialised(&project, &["--force"], 0);
    assert_eq!((project.read(CONFIG), forced["trusted"].clone()), (config, true.into()));
    assert_eq!(project.read(&format!("{CONFIG}.bak")), "limits: {stagnation: 7}\n");
    assert_eq!(project.read("work/.programmator/.gitignore"), "*.bak\n");
    let mode = |file: &str| std::fs::metadata(project.path(file)).expect("a file").permissions();
    std::fs::set_permissions(project.path(CONFIG), std::fs::Permissions::from_mode(0o600)).expect("a mode");
    project.write(CONFIG, "limits: {stagnation: 8}\n");
    initialised(&project, &["--force"], 0);
    assert_eq!(project.read(&format!("{CONFIG}.1.bak")), "limits: {stagnation: 8}\n");
    assert_eq!(mode(&format!("{CONFIG}.1.bak")).mode() & 0o777, 0o600, "the backup is as private as the file");
    assert_eq!(project.git(&["status", "--porcelain", "--ignored"]).matches(".bak").count(), 2);
}

#[test]
fn the_tickets_folder_of_settings_that_stay_is_used() {
    let project = Project::new();
    std::fs::remove_dir(project.path("work/.tickets")).expect("removed");
    project.write(CONFIG, "tickets: {dir: docs/work}\n");
    said(&project, &["trust"], 0);
    let report = initialised(&project, &[], 0);
    assert!(report["decided"]["tickets"].as_str().unwrap().ends_with("work/docs/work"), "{report:#}");
    assert_eq!(std::fs::read_dir(project.path("work/docs/work")).expect("tickets").count(), 1);
    assert!(!project.path("work/.tickets").exists());
    std::fs::remove_dir_all(project.path("work/docs/work")).expect("removed");
    let told = text(&project.run(&["init", "--yes"]));
    assert!(!told.contains("No command checks claims"), "settings that stay may have some: {told}");
}

#[test]
fn where_something_cannot_be_written_it_says_what_was() {
    let project = Project::new();
    project.write("config/config.yaml", "tickets: {dir: /proc/nothing/tickets}\n");
    let why = said(&project, &["init", "--yes"], 1);
    assert!(why.contains("cannot be written") && why.contains("written: .programmator/config.yaml"), "{why}");
    assert!(project.path(CONFIG).exists() && !why.contains("nothing was changed"), "{why}");
}

#[test]
fn files_that_the_person_has_not_looked_at_are_not_trusted() {
    let project = Project::new();
    project.write("work/.programmator/prompts/phased.md", "Do as I say. PROGRAMMATOR_STATUS\n");
    assert_eq!(initialised(&project, &[], 0)["trusted"], false);
    let shown = project.run(&["config", "show"]);
    assert!(text(&shown).contains("programmator trust"), "{}", text(&shown));
    let forced = said(&project, &["init", "--yes", "--force"], 2);
    assert!(forced.contains("nothing to change"), "{forced}");
    project.write(CONFIG, "limits: {stagnation: 8}\n");
    let forced = said(&project, &["init", "--yes", "--force"], 0);
    assert!(forced.contains("which trusts all of them"), "{forced}");
}

#[test]
fn links_do_not_lead_what_is_written_out_of_the_project() {
    for link in [".programmator", ".tickets"] {
        let project = Project::new();
        std::fs::create_dir(project.path("outside")).expect("a folder");
        std::fs::remove_dir(project.path("work/.tickets")).expect("removed");
        symlink(project.path("outside"), project.path(&format!("work/{link}"))).expect("a link");
        let why = said(&project, &["init", "--yes"], 1);
        assert!(why.contains("link"), "{why}");
        assert_eq!(std::fs::read_dir(project.path("outside")).expect("a folder").count(), 0, "{link}");
        assert!(!project.path(CONFIG).exists());
    }
}

#[test]
fn a_new_project_has_git_and_a_ticket_of_its_own() {
    let project = Project::without_git();
    let report = initialised(&project, &["shop"], 0);
    assert_eq!(report["decided"]["git"], true);
    assert!(project.path("work/shop/.git").is_dir() && project.path("work/shop/.programmator/config.yaml").is_file());
    assert_eq!(std::fs::read_dir(project.path("work/shop/.tickets")).expect("tickets").count(), 1);
    assert!(tickets(&project).is_empty(), "the folder that it lies in keeps its own");
    let why = said(&project, &["init", "--yes", "shop"], 1);
    assert!(why.contains("programmator -C shop init"), "{why}");
    for args in [&["init", "../x"][..], &["init", "--nonsense"], &["init", "-C", "gone"]] {
        assert_eq!(project.run(args).status.code(), Some(64), "{args:?}");
    }
    assert_eq!(
        project.command(&["init"]).env("PROGRAMMATOR_RUN_ID", "x").status().expect("it starts").code(),
        Some(77)
    );
    assert!(said(&project, &["-C", "../home", "init"], 1).contains("is not a project"));
}

#[test]
fn what_builds_write_is_ignored_in_a_repository_that_init_makes_and_in_no_other() {
    let project = Project::without_git();
    project.write("work/Cargo.toml", "[package]\nname = \"shop\"\n");
    project.write("work/web/package.json", "{\"scripts\": {\"test\": \"vitest\"}}");
    let report = initialised(&project, &[], 0);
    let written = report["written"].as_array().expect("paths").iter();
    assert!(written.filter(|path| path.as_str().expect("a path").ends_with("/.gitignore")).count() == 1, "{report}");
    assert_eq!(project.read("work/.gitignore"), "node_modules/\ntarget/\n");
    project.write("work/web/node_modules/x.js", "x");
    project.write("work/target/debug/x", "x");
    let seen = project.git(&["status", "--porcelain", "--untracked-files=all"]);
    assert!(seen.contains("Cargo.toml") && !seen.contains("x.js") && !seen.contains("target/"), "{seen}");

    let own = Project::without_git();
    own.write("work/Cargo.toml", "[package]\nname = \"shop\"\n");
    own.write("work/.gitignore", "mine\n");
    initialised(&own, &[], 0);
    assert_eq!(own.read("work/.gitignore"), "mine\n");
    let with_git = Project::new();
    with_git.write("work/Cargo.toml", "[package]\nname = \"shop\"\n");
    initialised(&with_git, &[], 0);
    assert!(!with_git.path("work/.gitignore").exists());
}

#[test]
fn at_a_terminal_every_page_has_a_default_and_esc_goes_back() {
    let project = Project::without_git();
    project.write("work/Makefile", "test:\n\t@echo \"it$$((1 + 1))works\"\nlint:\n\tfalse\n");
    let (env, folder) = (project.env(), project.work());
    let start = Start { program: PROGRAM.as_ref(), args: &["init"], env: &env, folder: &folder, size: (110, 60) };
    let mut screen = Terminal::start(&start);
    screen.wait_for("Create a git repository in this folder?");
    screen.keys_until("\r", "Folder for tickets:");
    screen.keys_until("\r", "First ticket:");
    screen.keys_until("\x1b", "? Folder for tickets:");
    screen.keys_until("\r", "? First ticket:");
    screen.keys_until("\r", "Commands that check every claim");
    screen.keys_until("\r", "Another validation command");
    screen.keys_until("\r", "Run each command once now?");
    screen.keys_until("\x1b", "? Another validation command");
    screen.keys_until("\r", "? Run each command once now?");
    screen.keys_until("y\r", "Keep those that failed?");
    assert!(screen.screen().contains("passed   in"), "{}", screen.screen());
    screen.keys_until("\r", "Who reviews finished work?");
    screen.keys_until("\r", "What may Claude do without asking?");
    screen.keys_until("\x1b[B\r", "Send questions to your phone");
    screen.keys_until("\r", "Write this?");
    let shown = screen.screen();
    assert!(shown.contains("+  profile: strict") && shown.contains("+    - \"make test\""), "{shown}");
    assert!(!project.path(CONFIG).exists() && !project.path("work/.git").exists(), "nothing is written before");
    screen.keys_until("\x1b", "? Send questions to your phone");
    screen.keys_until("\x1b", "? What may Claude do without asking?");
    screen.keys_until("\r", "? Send questions to your phone");
    screen.keys_until("\r", "? Write this?");
    screen.keys("\r");
    assert!(screen.wait_end().success());
    assert!(!screen.screen().contains("canceled"), "no mark of the way back: {}", screen.screen());
    assert!(project.path("work/.git").is_dir() && screen.has_its_modes_back());
    assert!(!project.read(CONFIG).contains("make lint"), "what failed was left out");
    project.git(&["add", "-A"]);
}

#[test]
fn a_no_at_the_end_writes_nothing() {
    let project = Project::new();
    let (env, folder) = (project.env(), project.work());
    let start = Start { program: PROGRAM.as_ref(), args: &["init"], env: &env, folder: &folder, size: (110, 40) };
    let mut screen = Terminal::start(&start);
    for page in [
        "Folder for tickets:", "First ticket:", "Another validation command", "Who reviews", "What may Claude",
        "Send questions to",
    ] {
        screen.wait_for(page);
        screen.keys("\r");
    }
    screen.wait_for("Write this?");
    screen.keys("n\r");
    assert_eq!(screen.wait_end().exit_code(), 5);
    assert!(!project.path(CONFIG).exists() && tickets(&project).is_empty());
    let mut screen = Terminal::start(&start);
    screen.wait_for("Folder for tickets:");
    screen.keys_until("\r", "First ticket:");
    screen.keys_until("\x03", "nothing was changed");
    assert_eq!(screen.wait_end().exit_code(), 5);
    assert!(!project.path(CONFIG).exists());
}

#[test]
fn what_is_there_and_what_comes_next_is_said() {
    let project = Project::new();
    let told = said(&project, &["init", "--yes", "my shop"], 0);
    assert!(told.contains("  cd 'my shop'\n") && !told.contains("no git repository"), "{told}");
    assert!(told.contains("  edit .tickets/") && told.contains("no known project files"), "{told}");
    let project = Project::new();
    project.write("work/TODO.md", "- [ ] Write\n");
    project.write("work/fix_plan.md", "- [ ] Fix\n");
    project.write("work/tox.ini", "[tox]\n");
    project.write("work/setup.py", "");
    let told = said(&project, &["init", "--yes"], 0);
    for line in [
        "found    1 new task in TODO.md\n",
        "  programmator import hank\n  programmator import tasks TODO.md\n",
        "note     tox is not installed",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(!told.contains("fill in") && !told.contains("programmator trust"), "{told}");
    assert!(said(&project, &["init", "--yes", "--force"], 2).contains("nothing to change"));
}

const LIST: &str =
    "# Shop\n\n## Fruit\n\n- [ ] Sell apples\n- [ ] Sell pears\n\n## House\n\n- [ ] Sweep\n- [x] Open the door\n";

#[test]
fn tasks_come_along_from_where_the_person_says() {
    let project = Project::new();
    project.write("work/docs/shop.md", LIST);
    let report = initialised(&project, &["--from", "prd:docs/shop.md", "--limit", "1"], 0);
    let standing = |n: usize| report["imported"]["tasks"][n]["standing"].clone();
    assert_eq!((standing(0), report["imported"]["left_out"].clone()), ("written".into(), 1.into()), "{report:#}");
    assert_eq!(tickets(&project).len(), 1, "what is imported stands in for a first ticket");
    let told = said(&project, &["init", "--yes", "--from", "prd:docs/shop.md", "--limit", "0"], 0);
    assert!(told.contains("already set up") && told.contains("written"), "{told}");
    assert_eq!(tickets(&project).len(), 2, "a second import takes only what is new");
    let told = said(&project, &["init", "--yes", "shop", "--from", "prd:docs/shop.md"], 0);
    assert!(told.contains("  cd shop\n"), "{told}");
    let own = Project::new();
    own.write("work/TODO.md", LIST);
    let told = said(&own, &["init", "--yes", "--from", "tasks:TODO.md"], 0);
    assert!(!told.contains("programmator import tasks"), "it was just imported: {told}");
    assert_eq!(std::fs::read_dir(project.path("work/shop/.tickets")).expect("tickets").count(), 2, "{told}");
    for (from, code) in [("prd:gone.md", 1), ("prd:docs", 1), ("hank", 64), ("github:x", 64)] {
        let why = said(&project, &["init", "--yes", "late", "--from", from], code);
        assert!(!why.is_empty() && !project.path("work/late").exists(), "{from}: {why}");
    }
    for args in [&["init", "--from", "jira"][..], &["init", "--label", "x"], &["init", "--from", "prd", "--skip-tasks"]]
    {
        assert_eq!(project.run(args).status.code(), Some(64), "{args:?}");
    }
}

#[test]
fn what_was_written_is_told_although_the_import_fails() {
    let project = Project::new();
    let bin = project.path("bin");
    let bare = project.command(&["init", "--yes", "--from", "github"]).env("PATH", &bin).output().expect("it starts");
    assert_eq!(bare.status.code(), Some(1), "{}", text(&bare));
    assert!(text(&bare).contains("`gh` is not installed") && !project.path(CONFIG).exists(), "{}", text(&bare));
    crate::gh::install(&project, "*) fails offline;;");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a PATH"));
    let gh = |args: &[&str]| project.command(args).env("PATH", &path).output().expect("it starts");
    let output = gh(&["init", "--json", "--from", "github"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let report: Value = serde_json::from_slice(&output.stdout).expect("an object");
    assert_eq!(report["imported"], Value::Null, "{report:#}");
    assert_eq!(report["written"].as_array().map(Vec::len), Some(1), "{report:#}");
    assert!(!output.stderr.is_empty() && project.path(CONFIG).exists());
    std::fs::remove_file(project.path(CONFIG)).expect("removed");
    crate::gh::install(&project, "");
    let told = text(&gh(&["init", "--yes", "--from", "github"]));
    let at = |words: &str| told.find(words).unwrap_or_else(|| panic!("{words} in {told}"));
    assert!(at("new      Limit logins") < at("Next:") && at(".tickets/w") < at("Next:"), "{told}");
}

#[test]
fn a_document_that_is_not_named_is_asked_for_in_the_words_of_the_command() {
    let project = Project::new();
    let why = said(&project, &["init", "--yes", "--from", "prd"], 64);
    assert!(why.contains("prd needs a document: name it, as in --from prd:FILE"), "{why}");
    project.write("work/docs/prd.md", "# P\n");
    let why = said(&project, &["init", "--yes", "--from", "prd"], 64);
    assert!(why.contains("--from prd:docs/prd.md") && !project.path(CONFIG).exists(), "{why}");
}

#[test]
fn what_is_imported_stands_in_for_a_first_ticket_and_comes_before_what_is_next() {
    let project = Project::new();
    project.write("work/TODO.md", "- [ ] Write\n");
    let (env, folder) = (project.env(), project.work());
    let start = Start { program: PROGRAM.as_ref(), args: &["init"], env: &env, folder: &folder, size: (110, 60) };
    let mut screen = Terminal::start(&start);
    screen.wait_for("Folder for tickets:");
    screen.keys_until("\r", "Import tasks from");
    screen.keys_until("\x1b[B\r", "Another validation command");
    for page in ["Who reviews", "What may Claude", "Send questions to", "Write this?"] {
        screen.keys_until("\r", page);
    }
    screen.keys_until("\r", "Import these?");
    assert!(!screen.screen().contains("First ticket:") && !screen.screen().contains("Next:"), "{}", screen.screen());
    screen.keys_until("\r", "Next:");
    assert!(screen.wait_end().success());
    assert_eq!(tickets(&project).len(), 1, "no ticket but that of the task");
}

#[test]
fn open_tasks_are_counted_before_anything_is_chosen() {
    let project = Project::new();
    project.write("work/TODO.md", LIST);
    let told = said(&project, &["init", "--yes"], 0);
    assert!(told.contains("3 new tasks in TODO.md"), "{told}");
    said(&project, &["import", "tasks", "TODO.md", "--yes"], 0);
    let told = said(&project, &["init", "--yes"], 2);
    assert!(!told.contains("TODO.md"), "all of it has tickets: {told}");
    let told = said(&project, &["init", "--yes", "--skip-tasks"], 2);
    assert!(!told.contains("TODO.md"), "{told}");
}

#[test]
fn a_type_that_is_named_stands_over_what_files_show() {
    let project = Project::new();
    project.write("work/Cargo.toml", "[package]\n");
    project.write("work/go.mod", "module shop\n");
    let checks = |args: &[&str]| initialised(&project, args, 0)["decided"]["validation"].clone();
    let both = checks(&[]).to_string();
    assert!(both.contains("cargo") && both.contains("go test"), "{both}");
    let go = checks(&["--force", "--project-type", "golang"]).to_string();
    assert!(go.contains("go test") && !go.contains("cargo"), "{go}");
    let python = checks(&["--force", "--project-type", "python"]);
    assert_eq!(python, serde_json::json!(["pytest"]));
    assert_eq!(checks(&["new", "--project-type", "Rust"]), serde_json::json!(["cargo test"]));
    let why = said(&project, &["init", "--yes", "--force", "--project-type", "cobol"], 64);
    assert!(why.contains("unknown project type `cobol`") && why.contains("Rust"), "{why}");
}

#[test]
fn a_phone_is_paired_at_the_end_of_the_conversation() {
    let project = Project::new();
    let (env, folder) = (project.env(), project.work());
    let args = ["init", "--skip-tasks"];
    let start = Start { program: PROGRAM.as_ref(), args: &args, env: &env, folder: &folder, size: (110, 60) };
    let mut screen = Terminal::start(&start);
    for page in ["Folder for tickets:", "First ticket:", "Another validation command", "Who reviews", "What may Claude"]
    {
        screen.wait_for(page);
        screen.keys("\r");
    }
    screen.wait_for("Send questions to your phone");
    screen.keys_until("y\r", "Write this?");
    screen.keys_until("\r", "oken");
    assert!(project.path(CONFIG).exists());
    screen.keys("\x03");
    assert!(!screen.wait_end().success());
}
