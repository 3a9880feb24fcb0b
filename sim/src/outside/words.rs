//! Enumerations of which every variant has a word.

/// Declares such an enumeration: each variant with its word in logs, files and on the command line, said once.
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$of])* $variant,)+
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Each with its word.
            pub const WORDS: [(&'static str, Self); Self::ALL.len()] = [$(($word, Self::$variant)),+];

            /// The word in logs, files and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// What goes by this word.
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == word)
            }
        }
    };
}

pub(crate) use words;
