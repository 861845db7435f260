//! Foreign arrays and maps of a bounded length, each item as the text that it was. Never keeps more than the bound.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// There are more items than the bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// The items of an array, at most `max`; none if it is not an array.
pub(crate) fn items(raw: &str, max: usize) -> Option<Result<Vec<&str>, TooMany>> {
    serde_json::Deserializer::from_str(raw).deserialize_seq(Items { max }).ok()
}

/// The entries of an object in the order of their names, at most `max`; the last of two with one name counts. None if it
/// is not an object, or if a name is no Unicode.
pub(crate) fn pairs(raw: &str, max: usize) -> Option<Result<BTreeMap<String, &str>, TooMany>> {
    serde_json::Deserializer::from_str(raw).deserialize_map(Pairs { max }).ok()
}

struct Items {
    max: usize,
}

impl<'a> Visitor<'a> for Items {
    type Value = Result<Vec<&'a str>, TooMany>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&RawValue>()? {
            if items.len() == self.max {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(Err(TooMany));
            }
            items.push(item.get());
        }
        Ok(Ok(items))
    }
}

struct Pairs {
    max: usize,
}

impl<'a> Visitor<'a> for Pairs {
    type Value = Result<BTreeMap<String, &'a str>, TooMany>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            pairs.insert(name, value.get());
            if pairs.len() > self.max {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                return Ok(Err(TooMany));
            }
        }
        Ok(Ok(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_within_the_bound_is_read() {
        let texts = items("[1,[2], {}]", 3).unwrap().unwrap();
        assert_eq!(texts, ["1", "[2]", "{}"]);
        assert_eq!(items("[1,2,3,4,5]", 3).unwrap().unwrap_err(), TooMany);
        assert!(items("{}", 3).is_none());
    }

    #[test]
    fn an_object_within_the_bound_is_read_and_the_last_of_two_counts() {
        let pairs_read = pairs(r#"{"b":1,"a":2,"b":3}"#, 2).unwrap().unwrap();
        let texts: Vec<_> = pairs_read.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(texts, [("a", "2"), ("b", "3")]);
        assert_eq!(pairs(r#"{"a":1,"b":1,"c":1,"d":1}"#, 2).unwrap().unwrap_err(), TooMany);
        assert!(pairs("[]", 2).is_none());
    }
}
