//! Where docker asks: the daemon of this machine, or another one that its environment or its context names.

use crate::base::hex::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Whether docker asks the daemon of this machine. Where that cannot be read, it may be another.
pub fn is_own(home: &Path, variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let home = set("HOME").map_or_else(|| home.to_owned(), PathBuf::from);
    let folder = set("DOCKER_CONFIG").map_or_else(|| home.join(".docker"), PathBuf::from);
    let context = match set("DOCKER_CONTEXT") {
        Some(context) => Ok(Some(context)),
        None => current_context(&folder),
    };
    set("DOCKER_HOST").is_none_or(|host| is_local(&host))
        && match context {
            Ok(None) => true,
            Ok(Some(name)) => name == "default" || is_local_context(&folder, &name),
            Err(_) => false,
        }
}

fn is_local(host: &str) -> bool {
    host.starts_with("unix://") || host.starts_with("npipe://")
}

fn current_context(folder: &Path) -> std::io::Result<Option<String>> {
    match fs::read(folder.join("config.json")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(bytes) => {
            let config: Value = serde_json::from_slice(&bytes)?;
            Ok(config["currentContext"].as_str().filter(|name| !name.is_empty()).map(str::to_owned))
        }
    }
}

/// A context's file stands under the hash of its name.
fn is_local_context(folder: &Path, name: &str) -> bool {
    let hash = hex(&Sha256::digest(name.as_bytes()));
    let meta = fs::read(folder.join("contexts/meta").join(hash).join("meta.json"));
    let meta: Option<Value> = meta.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    meta.is_some_and(|meta| meta["Endpoints"]["docker"]["Host"].as_str().is_some_and(is_local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_context_say_where_docker_asks() {
        let home = tempfile::tempdir().unwrap();
        let own = |variables: &[(&str, &str)]| {
            let value = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, it)| (*it).to_owned());
            is_own(home.path(), value)
        };
        assert!(own(&[]) && own(&[("DOCKER_HOST", "")]) && own(&[("DOCKER_HOST", "unix:///run/user/1/docker.sock")]));
        assert!(!own(&[("DOCKER_HOST", "tcp://10.0.0.1:2375")]) && !own(&[("DOCKER_HOST", "ssh://x")]));
        assert!(own(&[("DOCKER_CONTEXT", "default")]) && !own(&[("DOCKER_CONTEXT", "far")]));
        let docker = home.path().join(".docker");
        fs::create_dir(&docker).unwrap();
        let config = docker.join("config.json");
        fs::write(&config, r#"{"auths": {}}"#).unwrap();
        assert!(own(&[]));
        fs::write(&config, r#"{"currentContext": "colima"}"#).unwrap();
        assert!(!own(&[]), "where it leads is not known");
        let hash = "f24fd3749c1368328e2b149bec149cb6795619f244c5b584e844961215dadd16";
        let meta = docker.join("contexts/meta").join(hash);
        fs::create_dir_all(&meta).unwrap();
        for (host, local) in [("unix:///home/dev/.colima/docker.sock", true), ("tcp://10.0.0.1:2375", false)] {
            fs::write(meta.join("meta.json"), format!(r#"{{"Endpoints":{{"docker":{{"Host":"{host}"}}}}}}"#)).unwrap();
            assert_eq!(own(&[]), local, "{host}");
        }
        assert!(own(&[("DOCKER_CONFIG", "/nowhere")]));
        fs::write(&config, "{").unwrap();
        assert!(!own(&[]));
    }
}
