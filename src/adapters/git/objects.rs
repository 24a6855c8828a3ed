//! Git's objects, written without git: as the loose files that it reads. They are synced by who needs them on the disk.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// An object that was written so short a time ago may not be on the disk yet, whoever wrote it.
const RECENT: Duration = Duration::from_secs(60);

/// The name of an object, of 20 or 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ObjectId {
    bytes: [u8; 32],
    length: usize,
}

impl ObjectId {
    pub(super) fn new(bytes: &[u8]) -> Option<Self> {
        let mut id = Self { bytes: [0; 32], length: bytes.len() };
        id.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(id)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Where a repository keeps its objects, and how it names them.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    is_sha256: bool,
}

impl Objects {
    /// In this folder.
    pub(super) fn new(folder: PathBuf, is_sha256: bool) -> Self {
        Self { folder, is_sha256 }
    }

    /// The id of an object of this kind (`blob`, `tree`, `commit`).
    pub(super) fn id(&self, kind: &str, body: &[u8]) -> ObjectId {
        let head = head(kind, body);
        let mut bytes = [0; 32];
        if self.is_sha256 {
            bytes = Sha256::new().chain_update(&head).chain_update(body).finalize().into();
            return ObjectId { bytes, length: 32 };
        }
        bytes[..20].copy_from_slice(&Sha1::new().chain_update(&head).chain_update(body).finalize());
        ObjectId { bytes, length: 20 }
    }

    /// It stands in a file of its own. Else it may be among others, or gone.
    pub(super) fn is_loose(&self, hex: &str) -> bool {
        hex.is_char_boundary(2) && hex.len() > 2 && self.folder.join(&hex[..2]).join(&hex[2..]).is_file()
    }

    /// Sees to it that the object of this id is there. Gives its file, if that may not be on the disk yet.
    pub(super) fn put(&self, id: &ObjectId, kind: &str, body: &[u8]) -> io::Result<Option<File>> {
        let hex = id.to_string();
        let folder = self.folder.join(&hex[..2]);
        let path = folder.join(&hex[2..]);
        if let Ok(there) = File::open(&path) {
            let age = there.metadata()?.modified()?.elapsed().unwrap_or_default();
            return Ok((age < RECENT).then_some(there));
        }
        fs::create_dir_all(&folder)?;
        // Git clears away what has this name and was left by a program that was killed.
        let mut new = tempfile::Builder::new();
        let new = new.prefix("tmp_obj_").permissions(Permissions::from_mode(0o444)).tempfile_in(&folder)?;
        let mut packed = ZlibEncoder::new(new, Compression::fast());
        packed.write_all(&head(kind, body))?;
        packed.write_all(body)?;
        Ok(Some(packed.finish()?.persist(path)?))
    }
}

fn head(kind: &str, body: &[u8]) -> Vec<u8> {
    format!("{kind} {}\0", body.len()).into_bytes()
}
