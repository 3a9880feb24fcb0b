//! Fields of formats that are read, as properties of a schema.

use forkcast_scenarios::format::outline;

use super::Shape;

impl From<&outline::Shape> for Shape {
    fn from(shape: &outline::Shape) -> Self {
        let of = |shape: &outline::Shape| Box::new(Self::from(shape));
        match *shape {
            outline::Shape::Text => Self::Text,
            outline::Shape::Name => Self::Name,
            outline::Shape::Pattern(pattern) => Self::Pattern(pattern),
            outline::Shape::Constant(word) => Self::Constant(word),
            outline::Shape::Words(words) => Self::words(words()),
            outline::Shape::Explained { name, words, by } => Self::explained(name, words(), by),
            outline::Shape::Truth => Self::Truth,
            outline::Shape::Yes => Self::Yes,
            outline::Shape::Count { least } => Self::Count { least },
            outline::Shape::Between { least, most } => Self::Between { least, most },
            outline::Shape::Number => Self::Number,
            outline::Shape::Positive => Self::Positive,
            outline::Shape::Null => Self::Null,
            outline::Shape::Anything => Self::Anything,
            outline::Shape::Never => Self::Never,
            outline::Shape::Fields { least } => Self::Fields(least),
            outline::Shape::Object(object) => Self::Outlined(object),
            outline::Shape::List(items) => Self::List(of(items)),
            outline::Shape::Different(items) => Self::Different(of(items)),
            outline::Shape::Map { names: None, of: values } => Self::Map(of(values)),
            outline::Shape::Map { names: Some(names), of: values } => Self::Named(names, of(values)),
            outline::Shape::AnyOf(shapes) => Self::AnyOf(shapes.iter().map(Self::from).collect()),
        }
    }
}
