//! From where on a selected session is followed: the ways to honour an id that a view has seen, the best first.

use std::collections::VecDeque;

use switchboard_types::{Epoch, FollowFrom, Seen, Seq, SourceId};

use super::known::Home;

/// An event of ours as it is called on the wire.
pub(super) fn id_of(epoch: Epoch, seq: Seq) -> String {
    format!("{:016x}:{seq}", epoch.0)
}

fn seen_of(id: &str) -> Option<Seen> {
    let (epoch, seq) = id.split_once(':')?;
    let exact = epoch.len() == 16 && seq.bytes().all(|byte| byte.is_ascii_digit());
    let epoch = u64::from_str_radix(epoch, 16).ok().filter(|_| exact)?;
    Some(Seen { seq: Seq(seq.parse().ok()?), epoch: Some(Epoch(epoch)) })
}

/// The ways to go on after an id. One that is ours by its epoch is only ours; else it may be the name that an engine
/// gave, which may look like one of ours where hosts are chained. None left means from the start, with a gap told.
pub(super) fn ways(after: Option<&str>, epoch: Option<Epoch>, home: Home) -> VecDeque<FollowFrom> {
    let Some(after) = after else { return VecDeque::from([FollowFrom::Start]) };
    let seen = seen_of(after);
    let ours = seen.is_some() && seen.and_then(|seen| seen.epoch) == epoch;
    let mut ways = VecDeque::new();
    if let Some(seen) = seen.filter(|_| ours || home != Home::Elsewhere) {
        ways.push_back(FollowFrom::After(seen));
    }
    if !ours && home != Home::Here {
        ways.push_back(FollowFrom::AfterSource(SourceId::from(after)));
    }
    if ways.is_empty() {
        // An id that can be nobody's: the host says what it has.
        ways.push_back(FollowFrom::AfterSource(SourceId::from(after)));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_goes_to_whoever_gave_it() {
        let ours = Seen { seq: Seq(7), epoch: Some(Epoch(0x1f)) };
        let (id, other) = ("000000000000001f:7", "0000000000000020:7");
        let source = |id: &str| FollowFrom::AfterSource(SourceId::from(id));
        assert_eq!(id_of(Epoch(0x1f), Seq(7)), id);
        assert_eq!(ways(None, None, Home::Unknown), [FollowFrom::Start]);
        assert_eq!(ways(Some(id), Some(Epoch(0x1f)), Home::Elsewhere), [FollowFrom::After(ours)]);
        assert_eq!(ways(Some(other), Some(Epoch(0x1f)), Home::Elsewhere), [source(other)]);
        assert_eq!(ways(Some(id), None, Home::Unknown), [FollowFrom::After(ours), source(id)]);
        assert_eq!(ways(Some(id), Some(Epoch(9)), Home::Here), [FollowFrom::After(ours)]);
        for foreign in ["41", "9b1d-uuid", "", "1f:7", "000000000000001f:", "000000000000001f:-7"] {
            assert_eq!(ways(Some(foreign), Some(Epoch(0x1f)), Home::Elsewhere), [source(foreign)], "{foreign}");
            assert_eq!(ways(Some(foreign), Some(Epoch(0x1f)), Home::Here), [source(foreign)], "{foreign}");
        }
    }
}
