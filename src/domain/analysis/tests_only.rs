//! Which files are tests, by their names: an iteration that changed anything else did more than test.

/// Whether the path (with `/` between its parts) is that of a test.
pub fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default().to_lowercase();
    let folder = |name: &str| {
        matches!(name.to_lowercase().as_str(), "test" | "tests" | "spec" | "specs" | "__tests__" | "testdata" | "e2e")
    };
    let marks = ["_test.", ".test.", "_tests.", "_spec.", ".spec."];
    parts.any(folder)
        || file.starts_with("test_")
        || marks.iter().any(|mark| file.contains(mark))
        || matches!(file.as_str(), "tests.rs" | "conftest.py")
        || file.rsplit_once('.').is_some_and(|(_, ending)| matches!(ending, "bats" | "snap"))
}

/// Whether all of them are; also when there are none.
pub fn are_tests(paths: &[String]) -> bool {
    paths.iter().all(|path| is_test(path))
}
