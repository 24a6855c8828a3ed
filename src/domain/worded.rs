//! Enums whose variants are words: the same for people, in the journal and in `--json`.

/// An enum with `ALL`, its words and its serde form, from one list of variants and their words.
macro_rules! worded {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[$of])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for people and machines.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.word() == word)
            }
        }
    };
}

pub(crate) use worded;
