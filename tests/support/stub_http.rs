//! The little HTTP/1.1 that the Messages stub needs: requests in, documents and events out.

use serde_json::Value;
use std::io::{BufRead, ErrorKind, Read, Result, Write};
use std::net::TcpStream;

pub struct Request {
    /// `POST`, …
    pub method: String,
    pub path: String,
    pub body: Vec<u8>,
}

/// One event as one chunk.
pub fn event(to: &mut TcpStream, name: &str, fields: &str) -> Result<()> {
    let event = format!("event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n");
    to.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}

/// Answers with one JSON document.
pub fn document(to: &mut TcpStream, status: u16, body: &Value, headers: &[(String, String)]) -> Result<()> {
    send_document(to, status, &body.to_string(), headers)
}

/// Answers with one JSON document, given as text.
pub fn send_document(to: &mut TcpStream, status: u16, body: &str, headers: &[(String, String)]) -> Result<()> {
    let length = ("content-length".to_owned(), body.len().to_string());
    let kind = ("content-type".to_owned(), "application/json".to_owned());
    let head = head(status, [&kind, &length].into_iter().chain(headers));
    to.write_all(format!("{head}{body}").as_bytes())
}

/// Begins an answer of server-sent events.
pub fn begin_events(to: &mut TcpStream, headers: &[(String, String)]) -> Result<()> {
    let fixed = [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("transfer-encoding", "chunked"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    to.write_all(head(200, fixed.iter().chain(headers)).as_bytes())
}

fn head<'a>(status: u16, headers: impl Iterator<Item = &'a (String, String)>) -> String {
    let headers: Vec<String> = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/1.1 {status} Stub\r\n{}\r\n", headers.concat())
}

/// Reads one request; `None` when the client has closed the connection.
pub fn read_request(input: &mut impl BufRead) -> Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                length = value.trim().parse().map_err(|_| ErrorKind::InvalidData)?;
            }
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            let mut size = String::new();
            input.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim().split(';').next().unwrap_or(""), 16)
                .map_err(|_| ErrorKind::InvalidData)?;
            input.take(size).read_to_end(&mut body)?;
            input.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else {
        input.take(length).read_to_end(&mut body)?;
    }
    Ok(Some(Request { method, path, body }))
}
