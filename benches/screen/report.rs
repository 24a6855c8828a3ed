//! The table: what was measured beside its limit.

use std::process::ExitCode;
use std::time::Duration;

/// What a figure must not be above, or below.
#[derive(Clone, Copy)]
pub enum Limit {
    Most(f64),
    Least(f64),
}

/// The rows so far. Each is printed when it comes.
#[derive(Default)]
pub struct Report {
    rows: Vec<serde_json::Value>,
    misses: usize,
}

impl Report {
    /// Adds a figure; `beside`: what else there is to know of it.
    pub fn row(&mut self, name: &str, value: f64, unit: &str, limit: Limit, beside: &str) {
        let (sign, bound, met) = match limit {
            Limit::Most(bound) => ("≤", bound, value <= bound),
            Limit::Least(bound) => ("≥", bound, value >= bound),
        };
        self.misses += usize::from(!met);
        let mark = if met { " " } else { "✗" };
        println!("{mark} {name:44} {value:9.2} {unit:4} {sign} {bound:6}   {beside}");
        self.rows.push(serde_json::json!({
            "name": name, "value": value, "unit": unit, "limit": bound, "at_most": sign == "≤", "met": met,
            "beside": beside,
        }));
    }

    /// Prints how many were missed, and all of it as JSON.
    pub fn end(self, took: Duration) -> ExitCode {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or_default().to_owned();
        println!("{} rows, {} missed, {:.0} s, load {load}", self.rows.len(), self.misses, took.as_secs_f64());
        println!("{}", serde_json::Value::Array(self.rows));
        if self.misses == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
