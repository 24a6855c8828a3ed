//! Opening the database: whose it is, how it is set up, and the numbered migrations.
//!
//! A change of the schema is a new file in `schema/` and a row in [`MIGRATIONS`]; a file that was released
//! never changes. What the tables are filled with is `tables`'.

use super::error::StoreError;
use super::os;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// One script for each step; the schema's number (`user_version`) is how many of them have run.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
    include_str!("schema/005.sql"),
    include_str!("schema/006.sql"),
    include_str!("schema/007.sql"),
    include_str!("schema/008.sql"),
    include_str!("schema/009.sql"),
    include_str!("schema/010.sql"),
    include_str!("schema/011.sql"),
    include_str!("schema/012.sql"),
];

/// `application_id` of our databases: "prgm".
const APPLICATION: i32 = 0x7072_676d;

/// How long to wait for other programs' transactions, which take milliseconds.
const BUSY: Duration = Duration::from_secs(10);

/// KiB of the database that each connection keeps in memory. The system has the rest.
const KEPT: i64 = 512;

/// Opens the database for writing, creating it or bringing it up to date. The caller keeps other programs
/// from doing so at the same time: `SQLite` does not wait for a change of the journal mode.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    look_at_header(path)?;
    let file = os::private_file()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::file("open", path))?;
    // SQLite gives -wal and -shm the mode of the database.
    os::make_private(&file).map_err(StoreError::file("make private", path))?;
    drop(file);

    let sql = StoreError::sql(path);
    let mut db = connect(path)?;
    // A newer schema may stand in the log alone, after a crash: until that is known, closing writes nothing.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(&sql)?;
    known_version(path, number(&db, "user_version").map_err(&sql)?)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(&sql)?;

    db.pragma_update(None, "journal_mode", "wal").map_err(&sql)?;
    migrate(&mut db, path, MIGRATIONS)?;
    Ok(db)
}

/// Opens a second connection, for reading only.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let db = connect(path)?;
    db.pragma_update(None, "query_only", true).map_err(StoreError::sql(path))?;
    Ok(db)
}

/// Opens the database where nothing can be written. Changes nothing.
pub(super) fn open_read_only(path: &Path) -> Result<Connection, StoreError> {
    look_at_header(path)?;
    // Without a log there is nothing but the file, and the files that SQLite would make beside it cannot be made.
    let log = path.with_extension("db-wal");
    let alone = std::fs::metadata(&log).map_or(true, |log| log.len() == 0);
    let name: String = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => char::from(*byte).to_string(),
            byte => format!("%{byte:02x}"),
        })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:{name}?mode=ro{}", if alone { "&immutable=1" } else { "" });
    let db = Connection::open_with_flags(uri, flags).map_err(StoreError::sql(path))?;
    let version = number(&db, "user_version").map_err(StoreError::sql(path))?;
    known_version(path, version)?;
    if version == 0 {
        let why = "nothing was ever stored in it".to_owned();
        return Err(StoreError::Damaged { path: path.to_owned(), why });
    }
    Ok(db)
}

/// An earlier program has stored something in it, and none of this version has opened it since.
pub(super) fn is_older(path: &Path) -> bool {
    let version = open_read_only(path).and_then(|db| number(&db, "user_version").map_err(StoreError::sql(path)));
    version.is_ok_and(|version| usize::try_from(version).is_ok_and(|version| version < MIGRATIONS.len()))
}

/// Writes what is in the database as a new one. Changes nothing of it.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let name = to.to_str().ok_or_else(|| StoreError::file("write", to)(io::ErrorKind::InvalidFilename.into()))?;
    open_read_only(from)?.execute("VACUUM INTO ?1", [name]).map_err(StoreError::sql(from))?;
    Ok(())
}

/// A connection with the house's settings, to a database that was opened before.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let sql = StoreError::sql(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags).map_err(&sql)?;
    db.busy_timeout(BUSY).map_err(&sql)?;
    db.pragma_update(None, "cache_size", -KEPT).map_err(&sql)?;
    for (pragma, value) in [("synchronous", "full"), ("fullfsync", "on"), ("foreign_keys", "on")] {
        db.pragma_update(None, pragma, value).map_err(&sql)?;
    }
    Ok(db)
}

/// Refuses what is plainly not ours or too new before `SQLite` sees it, so that not a byte of it changes.
/// Offsets after <https://sqlite.org/fileformat2.html#the_database_header>.
fn look_at_header(path: &Path) -> Result<(), StoreError> {
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(100).read_to_end(&mut header).map_err(StoreError::file("read", path))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(StoreError::file("open", path)(error)),
    };
    if header.is_empty() {
        return Ok(());
    }
    let damaged = |why: &str| StoreError::Damaged { path: path.to_owned(), why: why.to_owned() };
    if header.len() < 100 || !header.starts_with(b"SQLite format 3\0") {
        return Err(damaged("it has no SQLite header"));
    }
    let word = |at: usize| header[at..at + 4].iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
    let (version, application) = (word(60), word(68));
    // Both are zero until the first migration is in the main file.
    if application != 0 && application != APPLICATION as u32 {
        return Err(damaged("it belongs to another program"));
    }
    known_version(path, i64::from(version))
}

fn known_version(path: &Path, version: i64) -> Result<(), StoreError> {
    if usize::try_from(version).is_ok_and(|version| version <= MIGRATIONS.len()) {
        return Ok(());
    }
    Err(StoreError::Newer {
        path: path.to_owned(),
        found: u32::try_from(version).unwrap_or(u32::MAX),
        known: MIGRATIONS.len() as u32,
    })
}

/// Runs the scripts that are still missing, all in one transaction.
fn migrate(db: &mut Connection, path: &Path, scripts: &[&str]) -> Result<(), StoreError> {
    let sql = StoreError::sql(path);
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&sql)?;
    let version = number(&tx, "user_version").map_err(&sql)?;
    let tables: i64 = tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&sql)?;
    let application = number(&tx, "application_id").map_err(&sql)?;
    if tables > 0 && application != i64::from(APPLICATION) {
        return Err(StoreError::Damaged { path: path.to_owned(), why: "it has tables of another program".to_owned() });
    }
    for script in scripts.iter().skip(usize::try_from(version).unwrap_or(0)) {
        tx.execute_batch(script).map_err(&sql)?;
    }
    if (version as usize) < scripts.len() {
        tx.pragma_update(None, "application_id", APPLICATION).map_err(&sql)?;
        tx.pragma_update(None, "user_version", scripts.len() as i64).map_err(&sql)?;
    }
    tx.commit().map_err(&sql)
}

fn number(db: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, pragma, |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(temp.path()).unwrap().join("programmator.db");
        (temp, path)
    }

    fn tables(db: &Connection) -> Vec<String> {
        let mut query = db.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").unwrap();
        let rows = query.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// A database as the program with `version` migrations left it, with a run in it if it had tables.
    fn old_database(path: &Path, version: usize) {
        File::create(path).unwrap();
        let mut db = connect(path).unwrap();
        db.pragma_update(None, "journal_mode", "wal").unwrap();
        migrate(&mut db, path, &MIGRATIONS[..version]).unwrap();
        if version > 0 {
            db.execute_batch(
                "INSERT INTO runs (run, ticket, ticket_path, folder, state, phase, phases_done, phases, iterations, cost_usd,
                     reason, started, updated, last_seq) VALUES ('r','t','/t','/f','running',NULL,0,1,0,0.5,NULL,1,2,1);
                 INSERT INTO records VALUES ('r',1,1,'paused','{\"kind\":\"paused\"}');",
            )
            .unwrap();
        }
    }

    #[test]
    fn every_earlier_version_becomes_the_present_one_and_keeps_its_rows() {
        let (_temp, fresh) = place();
        let expected = tables(&open(&fresh).unwrap());
        for version in 0..=MIGRATIONS.len() {
            let (_temp, path) = place();
            old_database(&path, version);
            let db = open(&path).unwrap();
            assert_eq!(tables(&db), expected, "from version {version}");
            assert_eq!(number(&db, "user_version").unwrap(), MIGRATIONS.len() as i64);
            let runs: i64 =
                db.query_row("SELECT count(*) FROM runs JOIN records USING (run)", [], |row| row.get(0)).unwrap();
            assert_eq!(runs, i64::from(version > 0), "from version {version}");
        }
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let (_temp, path) = place();
        drop(open(&path).unwrap());
        let mut db = connect(&path).unwrap();
        let before = tables(&db);
        let mut scripts = MIGRATIONS.to_vec();
        scripts.push("CREATE TABLE half (a TEXT); CREATE TABLE runs (again TEXT);");
        assert!(migrate(&mut db, &path, &scripts).is_err());
        assert_eq!(tables(&db), before);
        assert_eq!(number(&db, "user_version").unwrap(), MIGRATIONS.len() as i64);
    }

    #[test]
    fn a_newer_database_is_refused_and_not_a_byte_changes() {
        let (_temp, path) = place();
        drop(open(&path).unwrap());
        let db = connect(&path).unwrap();
        db.pragma_update(None, "user_version", 99).unwrap();
        drop(db);
        let before = fs::read(&path).unwrap();
        let said = open(&path).unwrap_err().to_string();
        assert!(said.contains("newer") && said.contains("schema 99"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_newer_schema_that_stands_in_the_log_alone_is_refused_and_not_a_byte_changes() {
        let (_temp, path) = place();
        drop(open(&path).unwrap());
        let db = connect(&path).unwrap();
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        db.pragma_update(None, "user_version", 99).unwrap();
        drop(db);
        let wal = path.with_extension("db-wal");
        let before = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
        assert!(matches!(open(&path), Err(StoreError::Newer { found: 99, .. })));
        assert_eq!((fs::read(&path).unwrap(), fs::read(&wal).unwrap()), before);
    }

    #[test]
    fn what_is_not_our_database_is_refused_by_name_and_kept() {
        let (_temp, path) = place();
        for content in [&b"notes of mine\n"[..], &b"SQLite format 3\0short"[..], &[0; 4096][..]] {
            fs::write(&path, content).unwrap();
            let said = open(&path).unwrap_err().to_string();
            assert!(said.contains("programmator.db") && said.contains("aside"), "{said}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
        fs::remove_file(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE theirs (a)").unwrap();
        drop(other);
        assert!(open(&path).unwrap_err().to_string().contains("another program"));
    }

    #[test]
    fn a_database_with_a_torn_page_is_an_error_that_says_what_to_do() {
        let (_temp, path) = place();
        drop(open(&path).unwrap());
        let mut bytes = fs::read(&path).unwrap();
        bytes[100..].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        let said = open(&path).unwrap_err().to_string();
        assert!(said.contains("programmator.db") && said.contains("aside"), "{said}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

    #[test]
    fn commits_are_durable_and_files_are_private() {
        let (_temp, path) = place();
        let db = open(&path).unwrap();
        let pragma = |name| -> String {
            db.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
                .map(|value| format!("{value:?}"))
                .unwrap()
        };
        assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
        assert_eq!(pragma("synchronous"), "Integer(2)");
        assert_eq!(pragma("foreign_keys"), "Integer(1)");
        for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
            use std::os::unix::fs::PermissionsExt;
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{:?}", entry.path());
        }
    }
}
