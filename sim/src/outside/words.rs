//! Enumerations with a word for every variant.

/// Declares an enumeration together with the word of each variant in logs, files and on the command line. The method that
/// returns it is `name`, or has the name that follows a colon.
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $vis:vis enum $name:ident { $($body:tt)+ }) => {
        words! { $(#[$about])* $vis enum $name: name { $($body)+ } }
    };
    ($(#[$about:meta])* $vis:vis enum $name:ident: $method:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$of])* $variant,)+
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// All variants with their words.
            pub const WORDS: [(&'static str, Self); Self::ALL.len()] = [$(($word, Self::$variant)),+];

            /// The word in logs, files and on the command line.
            pub const fn $method(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            /// The variant with this word.
            pub fn named(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.$method() == word)
            }
        }
    };
}

pub(crate) use words;
