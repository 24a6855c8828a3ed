//! `programmator metrics`, on a state that real runs have left.

use crate::project::Project;
use crate::watched::{DILIGENT, ran, said};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn runs_are_counted_by_outcome_and_a_file_is_replaced_whole() {
    let project = Project::with(&["Alpha", "Beta"], DILIGENT);
    assert!(said(&project, &["metrics"], 0).contains("\nprogrammator_iterations_total 0\n"), "without a run");
    project.validate_by("true");
    ran(&project, &["run", "--json", "tk-1"], 0);
    project.ticket("tk-2", &["Gamma", "Delta"]);
    ran(&project, &["run", "--json", "-n", "1", "tk-2"], 4);
    let told = said(&project, &["metrics"], 0);
    let value = |line: &str| {
        let found = told.lines().find_map(|told| told.strip_prefix(line)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{line}: {told}")).to_owned()
    };
    assert_eq!(value("programmator_runs_ended{outcome=\"complete\"}"), "1");
    assert_eq!(value("programmator_runs_ended{outcome=\"max_iterations\"}"), "1");
    assert_eq!(value("programmator_iterations_total"), "3");
    assert_eq!(
        (value("programmator_claims_checked_total"), value("programmator_claims_refuted_total")),
        ("3".to_owned(), "0".to_owned())
    );
    let number = |line: &str| value(line).parse::<f64>().unwrap();
    assert!(
        number("programmator_storage_bytes{kind=\"output\"}") > 0.0 && number("programmator_cost_usd_total") >= 0.0
    );
    assert!(!told.contains("tk-1"), "{told}");
    // Each figure has its lines, and no name comes twice.
    let types: Vec<&str> = told.lines().filter(|line| line.starts_with("# TYPE ")).collect();
    let mut once = types.clone();
    once.dedup();
    assert!(types.len() == 10 && once == types && told.matches("# HELP ").count() == 10, "{told}");

    let file = project.path("programmator.prom");
    assert_eq!(said(&project, &["metrics", "../programmator.prom"], 0), "");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644, "the collector is another user");
    let (before, again) = (fs::read_to_string(&file).unwrap(), said(&project, &["metrics", "../programmator.prom"], 0));
    assert_eq!((again.as_str(), before.lines().count()), ("", told.lines().count()));
    assert!(said(&project, &["metrics", "../none/file"], 1).contains("cannot be written"));
    let inside = project.command(&["metrics"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert!(inside.status.success(), "a Claude of ours may look");
}
