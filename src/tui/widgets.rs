//! Small drawing parts that know nothing of the model.

pub mod bar;
pub mod diff;
pub mod field;
pub mod frame;
pub mod markdown;
pub mod row;
pub mod scrolled;
pub mod spelt;
pub mod wrap;
