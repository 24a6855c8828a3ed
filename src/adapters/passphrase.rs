//! The passphrase of the gate: kept as an argon2id hash, compared in constant time, guessed at a falling rate.
//!
//! There is no default, and the one that was once published is refused. Owns the file `passphrase.phc` of the config
//! folder; `lockout` owns how often may be tried. What a right one opens is `domain::passphrase`'s.

mod lockout;

use crate::adapters::private_file::{self, PrivateFileError};
use crate::base::secret::Secret;
use crate::domain::passphrase::{BootTime, Checked};
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use lockout::Lockout;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

/// Memory in KiB, passes, lanes: the second choice of RFC 9106, section 4.
const COST: (u32, u32, u32) = (64 * 1024, 3, 1);
/// Fewest characters of a new one.
pub const SHORTEST: usize = 12;
/// SHA-256 of a passphrase that was once published as a default, in hex.
const PUBLISHED: &str = "788006caf535441ad49e2747bb0edd0203f38a74caacf7c337fc1a9ecfa99cd8";
/// Second line of the file: the hash is of the SHA-256 in hex, not of the passphrase itself.
const OVER_SHA256: &str = "pre=sha256";

/// A passphrase could not be set, imported or checked.
#[derive(Debug, thiserror::Error)]
pub enum PassphraseError {
    #[error("the passphrase needs at least {SHORTEST} characters; this one has {0}")]
    Short(usize),
    #[error("this passphrase was published as a default; choose another")]
    Published,
    #[error("not a SHA-256 in hex (64 digits)")]
    NotSha256,
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error("{path}: not a programmator passphrase hash ({reason}); set a new one: programmator passphrase set")]
    Broken { path: String, reason: String },
    #[error("the passphrase could not be hashed: {0}")]
    Hash(String),
}

/// The person's passphrase.
#[derive(Clone, Debug)]
pub struct Passphrases {
    file: PathBuf,
    lockout: Lockout,
}

impl Passphrases {
    /// The one of a config folder; failures are counted in a state folder. Neither needs to exist.
    pub fn new(config_folder: &Path, state_folder: &Path) -> Self {
        Self { file: config_folder.join("passphrase.phc"), lockout: Lockout::new(state_folder) }
    }

    /// Sets a new one and forgets the failures: whoever may write the file needs no guesses.
    pub fn set(&self, secret: &Secret) -> Result<(), PassphraseError> {
        let text = normal(secret);
        let letters = text.chars().count();
        if letters < SHORTEST {
            return Err(PassphraseError::Short(letters));
        }
        if sha256(&text).as_str() == PUBLISHED {
            return Err(PassphraseError::Published);
        }
        self.store(&hash(&text)?, "")?;
        Ok(self.lockout.reset()?)
    }

    /// Takes over a passphrase of which only the SHA-256 (64 hex digits) is known. No fast hash stays on disk.
    pub fn import_sha256(&self, hex: &str) -> Result<(), PassphraseError> {
        let hex = hex.trim().to_ascii_lowercase();
        if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(PassphraseError::NotSha256);
        }
        if hex == PUBLISHED {
            return Err(PassphraseError::Published);
        }
        self.store(&hash(&hex)?, OVER_SHA256)?;
        Ok(self.lockout.reset()?)
    }

    /// How it stands, without a try.
    pub fn standing(&self, now: BootTime) -> Result<Checked, PassphraseError> {
        if private_file::read(&self.file)?.is_none() {
            return Ok(Checked::Unset);
        }
        let (failures, wait) = self.lockout.standing(now)?;
        Ok(if wait.is_zero() { Checked::Ready } else { Checked::Locked { failures, wait } })
    }

    /// One try. Takes 64 MiB and some tenths of a second: not for a thread that others wait for. The failure is on
    /// disk before the hash is looked at, so a crash is no free guess.
    pub fn check(&self, secret: &Secret, now: BootTime) -> Result<Checked, PassphraseError> {
        let Some(stored) = private_file::read(&self.file)? else { return Ok(Checked::Unset) };
        let mut lines = stored.lines();
        let broken = |reason: String| PassphraseError::Broken { path: self.file.display().to_string(), reason };
        let phc = PasswordHash::new(lines.next().unwrap_or_default()).map_err(|error| broken(error.to_string()))?;
        let params = Params::try_from(&phc).map_err(|error| broken(error.to_string()))?;
        if phc.algorithm != Algorithm::Argon2id.ident() || params.m_cost() > COST.0 {
            return Err(broken("unsupported algorithm or memory cost".into()));
        }
        let over_sha256 = match lines.next().map(str::trim) {
            None | Some("") => false,
            Some(OVER_SHA256) => true,
            Some(other) => return Err(broken(format!("unknown line {other:?}"))),
        };
        let attempt = match self.lockout.attempt(now)? {
            Ok(attempt) => attempt,
            Err((failures, wait)) => return Ok(Checked::Locked { failures, wait }),
        };
        let text = normal(secret);
        let matches = |text: &str| argon2().verify_password(text.as_bytes(), &phc).is_ok();
        let right = if over_sha256 {
            // It was hashed as typed then, whatever its form.
            matches(&sha256(secret.expose())) || (*text != *secret.expose() && matches(&sha256(&text)))
        } else {
            matches(&text)
        };
        if !right {
            let (failures, wait) = attempt.failed();
            return Ok(Checked::Wrong { failures, wait });
        }
        attempt.succeeded()?;
        if over_sha256 {
            self.store(&hash(&text)?, "")?;
        }
        Ok(Checked::Right)
    }

    fn store(&self, phc: &str, mark: &str) -> Result<(), PassphraseError> {
        let end = if mark.is_empty() { "" } else { "\n" };
        Ok(private_file::write(&self.file, &format!("{phc}\n{mark}{end}"))?)
    }
}

/// The same letters are the same bytes, on whatever keyboard they were typed.
fn normal(secret: &Secret) -> Zeroizing<String> {
    // Composing never makes a text longer than three times its bytes; the buffer must not grow.
    let mut text = Zeroizing::new(String::with_capacity(secret.expose().len() * 3));
    text.extend(secret.expose().nfc());
    text
}

fn sha256(text: &str) -> Zeroizing<String> {
    let digest = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(text.as_bytes())));
    let mut hex = Zeroizing::new(String::with_capacity(64));
    for byte in digest.iter() {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

fn argon2() -> Argon2<'static> {
    let (memory, passes, lanes) = COST;
    // The cost is within the library's bounds; the default would be weaker, not wrong.
    let params = Params::new(memory, passes, lanes, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hash(text: &str) -> Result<String, PassphraseError> {
    let hashed = argon2().hash_password(text.as_bytes()).map_err(|error| PassphraseError::Hash(error.to_string()))?;
    Ok(hashed.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const WORDS: &str = "correct horse battery";

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> (Self, Passphrases) {
            let folder = tempfile::tempdir().unwrap();
            let passphrases = Passphrases::new(&folder.path().join("config"), &folder.path().join("state"));
            (Self(folder), passphrases)
        }

        fn file(&self) -> PathBuf {
            self.0.path().join("config/passphrase.phc")
        }

        fn text(&self) -> String {
            std::fs::read_to_string(self.file()).unwrap()
        }
    }

    fn at(seconds: u64) -> BootTime {
        BootTime { total: Duration::from_secs(seconds), awake: Duration::from_secs(seconds) }
    }

    #[test]
    fn there_is_none_until_one_is_set() {
        let (place, passphrases) = Place::new();
        assert_eq!(passphrases.standing(at(0)).unwrap(), Checked::Unset);
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(0)).unwrap(), Checked::Unset);
        passphrases.set(&Secret::of(WORDS)).unwrap();
        assert_eq!(passphrases.standing(at(0)).unwrap(), Checked::Ready);
        assert!(place.text().starts_with("$argon2id$v=19$m=65536,t=3,p=1$"), "{}", place.text());
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(0)).unwrap(), Checked::Right);
        let wrong = passphrases.check(&Secret::of("correct horse batterz"), at(0)).unwrap();
        assert_eq!(wrong, Checked::Wrong { failures: 1, wait: Duration::ZERO });
    }

    #[test]
    fn the_same_letters_are_the_same_passphrase() {
        let (_place, passphrases) = Place::new();
        passphrases.set(&Secret::of("cafe\u{301} con leche")).unwrap();
        assert_eq!(passphrases.check(&Secret::of("caf\u{e9} con leche"), at(0)).unwrap(), Checked::Right);
    }

    #[test]
    fn what_is_short_or_published_is_refused() {
        let (place, passphrases) = Place::new();
        assert!(matches!(passphrases.set(&Secret::of("elevenchars")), Err(PassphraseError::Short(11))));
        // Twelve characters as typed, eleven in normal form.
        assert!(matches!(passphrases.set(&Secret::of("elevencharse\u{301}")), Ok(())));
        assert!(matches!(passphrases.set(&Secret::of("elevenchare\u{301}")), Err(PassphraseError::Short(11))));
        std::fs::remove_file(place.file()).unwrap();
        let published = ["my", "pass", "phrase"].concat();
        assert!(matches!(passphrases.set(&Secret::of(&published)), Err(PassphraseError::Published)));
        let upper = PUBLISHED.to_uppercase();
        assert!(matches!(passphrases.import_sha256(&upper), Err(PassphraseError::Published)));
        for no_hash in ["", "12", &"g".repeat(64)] {
            assert!(matches!(passphrases.import_sha256(no_hash), Err(PassphraseError::NotSha256)), "{no_hash:?}");
        }
        assert!(!place.file().exists());
    }

    #[test]
    fn an_imported_one_leaves_no_fast_hash_and_is_plain_after_the_first_success() {
        let (place, passphrases) = Place::new();
        let hex = sha256(WORDS);
        passphrases.import_sha256(&hex).unwrap();
        let imported = place.text();
        assert!(imported.ends_with("\npre=sha256\n") && !imported.contains(hex.as_str()), "{imported}");
        // The hash itself opens nothing.
        assert!(matches!(passphrases.check(&Secret::of(&hex), at(0)).unwrap(), Checked::Wrong { .. }));
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(0)).unwrap(), Checked::Right);
        assert_eq!(place.text().lines().count(), 1);
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(0)).unwrap(), Checked::Right);
    }

    #[test]
    fn a_locked_one_is_not_even_looked_at() {
        let (_place, passphrases) = Place::new();
        passphrases.set(&Secret::of(WORDS)).unwrap();
        for failure in 1..=5 {
            let wait = if failure == 5 { Duration::from_secs(2) } else { Duration::ZERO };
            let wrong = passphrases.check(&Secret::of("not the right words"), at(100)).unwrap();
            assert_eq!(wrong, Checked::Wrong { failures: failure, wait });
        }
        let locked = Checked::Locked { failures: 5, wait: Duration::from_secs(1) };
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(101)).unwrap(), locked);
        assert_eq!(passphrases.standing(at(101)).unwrap(), locked);
        assert_eq!(passphrases.check(&Secret::of(WORDS), at(102)).unwrap(), Checked::Right);
        assert_eq!(passphrases.standing(at(102)).unwrap(), Checked::Ready);
    }

    #[test]
    fn a_file_that_others_can_read_or_a_failure_that_cannot_be_counted_opens_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let (place, passphrases) = Place::new();
        passphrases.set(&Secret::of(WORDS)).unwrap();
        let mode = |mode| std::fs::set_permissions(place.file(), std::fs::Permissions::from_mode(mode)).unwrap();
        mode(0o640);
        for error in
            [passphrases.check(&Secret::of(WORDS), at(0)).unwrap_err(), passphrases.standing(at(0)).unwrap_err()]
        {
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }
        mode(0o600);
        // As on a full disk: nothing can be written where the failures are counted.
        let state = place.0.path().join("state");
        std::fs::remove_dir_all(&state).unwrap();
        std::fs::write(&state, "").unwrap();
        assert!(matches!(passphrases.check(&Secret::of(WORDS), at(0)), Err(PassphraseError::File(_))));
        assert!(matches!(passphrases.check(&Secret::of("no guess is free"), at(0)), Err(PassphraseError::File(_))));
    }

    #[test]
    fn a_file_that_is_not_ours_opens_nothing() {
        let (place, passphrases) = Place::new();
        for text in [
            "",
            "hunter2\n",
            "$argon2d$v=19$m=65536,t=3,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
            "$argon2id$v=19$m=4194304,t=3,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
            "$argon2id$v=19$m=65536,t=3,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\npre=md5\n",
        ] {
            private_file::write(&place.file(), text).unwrap();
            let error = passphrases.check(&Secret::of(WORDS), at(0)).unwrap_err();
            assert!(matches!(error, PassphraseError::Broken { .. }), "{text:?}: {error}");
        }
    }
}
