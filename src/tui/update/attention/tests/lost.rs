//! What becomes of a card when its question goes, its run is read again, or its answer could not be sent.

use super::*;

#[test]
fn a_withdrawn_call_takes_its_card_along_and_says_so() {
    for (record, note) in [
        (Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: "interrupted".into() }), "interrupted"),
        (
            Record::ApprovalAnswered(Answered {
                id: QuestionId::first("c"),
                answer: Answer::Deny { words: "x".into() },
                by: AnsweredBy::Timeout,
            }),
            "answered",
        ),
    ] {
        let mut model = waits([sample::push("c"), sample::push("other")]);
        press(&mut model, "!");
        news(&mut model, record);
        assert!(!card_is_open(&model));
        assert!(model.toast.as_ref().is_some_and(|(words, _)| words.contains(note)), "{:?}", model.toast);
        assert_eq!(model.waiting(), 1);
    }
    // Another one's end leaves the card alone.
    let mut model = waits([sample::push("c"), sample::push("other")]);
    press(&mut model, "!");
    news(&mut model, Record::ApprovalVoid(Voided { id: QuestionId::first("other"), why: "x".into() }));
    assert!(card_is_open(&model));
}

#[test]
fn an_answer_that_another_front_end_gave_first_is_told_of() {
    let mut model = waits([sample::push("c")]);
    assert_eq!(press(&mut model, "! y").len(), 1);
    let (answer, by) = (Answer::Deny { words: "no".into() }, AnsweredBy::Person(Answerer::COMMAND_LINE));
    news(&mut model, Record::ApprovalAnswered(Answered { id: QuestionId::first("c"), answer, by }));
    assert_eq!((card_is_open(&model), toast(&model)), (false, "denied by you (command line)"));
}

#[test]
fn a_run_that_is_opened_again_repeats_no_old_answer() {
    let mut model = waits([sample::push("c")]);
    model.tabs[0].failure = Some("left".into());
    let answered = Answered {
        id: QuestionId::first("c"),
        answer: Answer::Deny { words: "no".into() },
        by: AnsweredBy::Person(Answerer::SCREEN),
    };
    let records = [Record::ApprovalAsked(sample::push("c")), Record::ApprovalAnswered(answered)];
    let records: Vec<_> = (1..).zip(records).map(|(seq, record)| sample::stored("tk-1", seq, record).into()).collect();
    let ticket = model.tabs[0].id.clone();
    let run = sample::stored("tk-1", 1, Record::Paused).run;
    let opened = News::RunOpened { ticket, run, earlier: 0, records, owner: crate::domain::summary::Owner::Here };
    update(&mut model, Msg::News(opened));
    assert_eq!(toast(&model), "", "nor that it is being started");
}

#[test]
fn a_run_that_is_read_again_leaves_what_the_person_has_begun() {
    let mut model = sample::model();
    let void = |id: &str| Record::ApprovalVoid(Voided { id: QuestionId::first(id), why: "interrupted".into() });
    let asked = |id: &str| Record::ApprovalAsked(sample::push(id));
    let (ticket, run) = (sample::id("tk-1"), sample::run("tk-1"));
    let read = |model: &mut Ui, all: &[Record]| {
        let stored = (1..).zip(all).map(|(seq, record)| sample::stored("tk-1", seq, record.clone()).into());
        let (ticket, records) = (ticket.clone(), stored.collect());
        update(
            model,
            Msg::News(News::RunOpened { ticket, run, earlier: 0, records, owner: crate::domain::summary::Owner::Here }),
        );
    };
    let mut all = vec![asked("old"), void("old"), asked("c")];
    read(&mut model, &all);
    press(&mut model, "! d n o");
    all.extend([asked("later"), void("later")]);
    read(&mut model, &all);
    assert_eq!(press(&mut model, "Enter"), [deny("c", "no")], "the card and its words are still there");
    let (why, until) = ("the disk is full".into(), sample::NOW.plus(Duration::from_secs(60)));
    let full = StorageAwaited { run, ticket: ticket.id().clone(), why, since: sample::NOW, until };
    update(&mut model, Msg::News(News::StorageAwaited(full)));
    read(&mut model, &all);
    assert!(model.tabs[0].unstored.awaited.is_some() && model.waiting() == 0, "nothing was stored since");
    all.push(void("c"));
    read(&mut model, &all);
    assert!(!card_is_open(&model) && model.tabs[0].unstored.awaited.is_none());
    assert_eq!(toast(&model), "your answer was not recorded: interrupted");
}

#[test]
fn what_could_not_be_sent_can_be_given_again() {
    for keys in ["y", "d n o Enter", "e x Ctrl-s"] {
        let mut model = waits([sample::push("c")]);
        press(&mut model, "!");
        let asks = press(&mut model, keys);
        let [Ask::Request(request)] = &asks[..] else { panic!("{asks:?}") };
        update(&mut model, Msg::NotAsked(Box::new(request.clone())));
        assert_eq!(model.tabs[0].unstored.all_missing(&model.tabs[0].state, ""), None, "{keys}");
        let drawn = sample::draw(&mut model, (100, 30));
        assert!(drawn.contains("was not sent"), "{keys}: {drawn}");
        let last = keys.rsplit(' ').next().unwrap();
        assert_eq!(press(&mut model, last), std::slice::from_ref(&asks[0]), "{keys}");
    }
    let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
    press(&mut model, "!");
    checked(&mut model, Checked::Ready);
    let asks = press(&mut model, "y p w Enter");
    let [Ask::Request(request @ Request::TryPassphrase { .. })] = &asks[..] else { panic!("{asks:?}") };
    update(&mut model, Msg::NotAsked(Box::new(request.clone())));
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(drawn.contains("not sent"), "{drawn}");
}

#[test]
fn a_question_of_an_interrupted_run_is_told_on_home_and_leads_there() {
    use crate::domain::summary::RunState;
    let mut ui = sample::model();
    ui.tabs.push(sample::running("tk-1"));
    let mut run = sample::seen("tk-7f00", &ui.folder);
    (run.state, run.needs) = (RunState::Interrupted, Some("Bash make test".into()));
    ui.see_run(run.clone().into());
    assert_eq!(ui.waiting(), 1);
    press(&mut ui, "!");
    assert_eq!((ui.is_home(), ui.home.cursor.as_ref().map(ToString::to_string).as_deref()), (true, Some("tk-7f00")));
    let screen = sample::draw(&mut ui, (120, 40));
    let (needs, running) = (screen.find("NEEDS YOU").unwrap(), screen.find("RUNNING").unwrap());
    assert!((needs..running).contains(&screen.find("question waiting: Bash make").unwrap()), "{screen}");
    assert!(screen.contains("s resumes tk-7f00, then shows its card"), "{screen}");
    // That of another directory is not resumed here, a chat's person has left, and without a question nothing waits.
    let others = [
        crate::domain::summary::RunSummary { folder: "/elsewhere".into(), ..run.clone() },
        crate::domain::summary::RunSummary { needs: None, ..run.clone() },
    ];
    for other in others {
        ui.see_run(other.into());
        assert_eq!(ui.waiting(), 0);
    }
    // One at work in another program is opened: its card needs its records.
    ui.see_run(crate::domain::summary::RunSummary { state: RunState::Running, ..run.clone() }.into());
    assert_eq!(ui.waiting(), 1);
    assert_eq!(press(&mut ui, "!"), [Ask::Request(Request::Show(run.run))]);
    let screen = sample::draw(&mut ui, (120, 40));
    assert!(screen.contains("tk-7f00 is running in another process; ! answers its questions"), "{screen}");
}
