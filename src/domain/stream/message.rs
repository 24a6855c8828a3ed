//! The `message` of an `assistant` or `user` record: its blocks, borrowed; texts are decoded on demand.
//!
//! Drawing messages is [`super::show`]'s.

use super::raw::{Inner, Raw};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// A message as the Messages API shapes it.
#[derive(Debug, Default, serde::Deserialize)]
pub struct Message<'a> {
    /// The model that spoke; `<synthetic>` is the CLI itself.
    #[serde(borrow)]
    pub model: Raw<'a>,
    pub usage: Raw<'a>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
}

/// A message's content: a text or blocks.
#[derive(Debug)]
pub enum Content<'a> {
    Text(Cow<'a, str>),
    /// Blocks; measured: one for each `assistant` record.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

/// One block.
#[derive(Debug, Default, serde::Deserialize)]
pub struct Block<'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, …
    #[serde(borrow, rename = "type")]
    pub kind: Raw<'a>,
    /// `text`: the words.
    pub text: Raw<'a>,
    /// `tool_use`: the call.
    pub id: Raw<'a>,
    /// `tool_result`: what came back, a text or blocks.
    pub content: Raw<'a>,
    /// `tool_result`: the call it answers.
    pub tool_use_id: Raw<'a>,
    /// `tool_result`: the tool failed; missing means it did not.
    pub is_error: Raw<'a>,
}

impl<'a> Content<'a> {
    /// The blocks; none for a bare string.
    pub fn blocks(&self) -> &[Block<'a>] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrBlocks)
    }
}

struct TextOrBlocks;

impl<'de> Visitor<'de> for TextOrBlocks {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(Inner(block)) = seq.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw::{flag, text, word};
    use super::*;

    #[test]
    fn content_may_be_a_text_blocks_or_something_else() {
        let message: Message = serde_json::from_str(r#"{"content":"hello\n"}"#).unwrap();
        assert!(matches!(message.content, Content::Text(ref t) if t == "hello\n"));

        let json = r#"{"content":[{"type":"text","text":"a\"b"},{"type":"tool_result","content":[{}],"tool_use_id":"t1","is_error":true}]}"#;
        let message: Message = serde_json::from_str(json).unwrap();
        let [first, second] = message.content.blocks() else { unreachable!("two blocks") };
        assert_eq!(text(first.text).unwrap(), "a\"b");
        assert_eq!(word(second.tool_use_id), "t1");
        assert_eq!(flag(second.is_error), Some(true));

        for odd in
            ["{}", r#"{"content":null}"#, r#"{"content":{"a":[1]}}"#, r#"{"content":-1.5}"#, "[[{}],1]", "true", "7"]
        {
            let message: Inner<Message> = serde_json::from_str(odd).unwrap();
            assert!(message.0.content.blocks().is_empty(), "{odd}");
        }
        // What is no block says nothing, and what is one counts.
        let odd = r#"{"content":["a",null,3,{"type":"text","text":"b"}]}"#;
        let message: Message = serde_json::from_str(odd).unwrap();
        let words: Vec<_> = message.content.blocks().iter().map(|block| word(block.text)).collect();
        assert_eq!(words, ["", "", "", "b"]);
    }
}
