//! Figures in the text format of Prometheus, <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write;

/// Whether a figure only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
}

/// One figure, with a value for each set of labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    pub help: &'static str,
    pub kind: Kind,
    /// The label and its value, where there is one; and the figure.
    pub values: Vec<(Option<(&'static str, String)>, f64)>,
}

impl Metric {
    /// One without labels.
    pub fn plain(name: &'static str, help: &'static str, kind: Kind, value: f64) -> Self {
        Self { name, help, kind, values: vec![(None, value)] }
    }
}

/// All of them as a scraper reads them.
pub fn exposition(metrics: &[Metric]) -> String {
    let mut out = String::new();
    for Metric { name, help, kind, values } in metrics {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (label, value) in values {
            let _ = match label {
                Some((label, text)) => writeln!(out, "{name}{{{label}=\"{}\"}} {value}", escaped(text)),
                None => writeln!(out, "{name} {value}"),
            };
        }
    }
    out
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_the_format_demands() {
        let labelled = |text: &str, value| (Some(("outcome", text.to_owned())), value);
        let metrics = [
            Metric::plain("a_total", "All \\ of\nthem.", Kind::Counter, 12.0),
            Metric {
                name: "b",
                help: "Some.",
                kind: Kind::Gauge,
                values: vec![labelled("a\"b\\c\nd", 0.25), labelled("e", 5e9)],
            },
        ];
        assert_eq!(
            exposition(&metrics),
            "# HELP a_total All \\\\ of\\nthem.\n# TYPE a_total counter\na_total 12\n\
             # HELP b Some.\n# TYPE b gauge\nb{outcome=\"a\\\"b\\\\c\\nd\"} 0.25\nb{outcome=\"e\"} 5000000000\n"
        );
    }
}
