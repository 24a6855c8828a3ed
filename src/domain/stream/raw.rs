//! Reading single values that are still JSON text: each answers for itself whether it is what was
//! hoped for, so that one odd field never costs the record.
//!
//! Whole records are [`super::envelope`]'s.

use super::repair;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A field that may be missing, `null` or of any type; not decoded yet.
pub type Raw<'a> = Option<&'a RawValue>;

/// The inside of a string that has no escapes (a type, a subtype, an enum value); `""` for anything else.
pub fn word(raw: Raw<'_>) -> &str {
    raw.and_then(|raw| raw.get().strip_prefix('"')?.strip_suffix('"')).filter(|word| !word.contains('\\')).unwrap_or("")
}

/// A string, decoded; halves of emoji become U+FFFD. `None` for anything but a string.
pub fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let json = raw?.get();
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    serde_json::from_str::<String>(json)
        .or_else(|_| serde_json::from_slice(&repair::surrogates(json.as_bytes())))
        .ok()
        .map(Cow::Owned)
}

/// A string as an owned text, empty when it is none.
pub fn string(raw: Raw<'_>) -> String {
    text(raw).unwrap_or_default().into_owned()
}

/// A string that says something.
pub fn some_string(raw: Raw<'_>) -> Option<String> {
    text(raw).filter(|text| !text.is_empty()).map(Cow::into_owned)
}

pub fn flag(raw: Raw<'_>) -> Option<bool> {
    match raw?.get() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

pub fn number(raw: Raw<'_>) -> Option<f64> {
    raw?.get().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A count: a number that is not negative, its fraction dropped.
pub fn count(raw: Raw<'_>) -> Option<u64> {
    number(raw).filter(|number| *number >= 0.0).map(|number| number as u64)
}

/// An object or array of a known shape.
pub fn object<'a, T: serde::Deserialize<'a>>(raw: Raw<'a>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// An object of a known shape that is read in the pass over what it is in; empty where the value is no object.
#[derive(Debug, Default)]
pub struct Inner<T>(pub T);

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for Inner<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectOrNone(PhantomData)).map(Self)
    }
}

struct ObjectOrNone<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for ObjectOrNone<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok(T::default())
    }
}

/// JSON text as it stands, with halves of emoji repaired: any JSON parser takes it.
pub fn json(raw: &RawValue) -> String {
    match repair::surrogates(raw.get().as_bytes()) {
        Cow::Borrowed(_) => raw.get().to_owned(),
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn every_reader_takes_what_fits_and_refuses_the_rest() {
        let cases = [
            (r#""word""#, "word", Some("word"), None, None),
            (r#""a\nb""#, "", Some("a\nb"), None, None),
            (r#""cut \ud83c""#, "", Some("cut \u{fffd}"), None, None),
            ("true", "", None, Some(true), None),
            ("577.30", "", None, None, Some(577)),
            ("-1", "", None, None, None),
            (r#"{"a":1}"#, "", None, None, None),
        ];
        for (json, w, t, f, c) in cases {
            let value = raw(json);
            let value = Some(value.as_ref());
            assert_eq!(word(value), w, "{json}");
            assert_eq!(text(value).as_deref(), t, "{json}");
            assert_eq!(flag(value), f, "{json}");
            assert_eq!(count(value), c, "{json}");
        }
    }
}
