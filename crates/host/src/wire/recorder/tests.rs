//! The queue and its thread, against real files.

use super::super::Tail;
use super::*;

const S: SessionId = SessionId(1);
const OTHER: SessionId = SessionId(2);

fn draft(raw: &str) -> Draft {
    Draft {
        at: Time(5),
        side: Side::Agent,
        peer: "life 1".to_owned(),
        dir: Direction::In,
        dialect: "plain",
        name: "",
        bytes: raw.len(),
        verdict: Verdict::Ok,
        why: None,
        events: None,
        raw: Some(head(&Bytes::copy_from_slice(raw.as_bytes()))),
    }
}

fn entries(folder: &WireFolder, session: SessionId) -> Vec<Entry> {
    let (mut tail, mut all) = (Tail::new(folder.clone(), session, 0), Vec::new());
    loop {
        let lines = tail.read_on().unwrap();
        if lines.is_empty() {
            return all;
        }
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        all.extend(lines.map(|line| serde_json::from_slice::<Entry>(line).unwrap()));
    }
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn what_has_begun_is_kept_and_nothing_else_leaves_a_trace() {
    let data = tempfile::tempdir().unwrap();
    let folder = WireFolder::within(data.path());
    let writer = Writer::start(folder.clone(), Clock::start()).unwrap();
    let recorder = writer.recorder();
    recorder.keep(S, draft(r#"{"type":"early"}"#));
    recorder.begin(S, Time(1));
    recorder.begin(S, Time(1));
    recorder.keep(S, draft(r#"{"type":"one"}"#));
    recorder.keep(OTHER, draft(r#"{"type":"other"}"#));
    recorder.end(S, Time(9));
    recorder.keep(S, draft(r#"{"type":"late"}"#));
    writer.finish();
    let kept = entries(&folder, S);
    assert_eq!(names(&kept), ["recording on", "one", "recording off"]);
    assert_eq!(kept.iter().map(|entry| entry.n).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(kept[1].raw.as_deref(), Some(r#"{"type":"one"}"#));
    assert_eq!(folder.sessions(), [S]);
}

#[test]
fn nothing_recorded_leaves_nothing_on_the_disk() {
    let data = tempfile::tempdir().unwrap();
    let writer = Writer::start(WireFolder::within(data.path()), Clock::start()).unwrap();
    let recorder = writer.recorder();
    recorder.hide(vec!["0123456789".to_owned()]);
    recorder.keep(S, draft("x"));
    recorder.forget(S);
    writer.finish();
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

#[test]
fn a_deleted_session_takes_its_record_along_and_late_messages_do_not_bring_it_back() {
    let data = tempfile::tempdir().unwrap();
    let folder = WireFolder::within(data.path());
    let writer = Writer::start_with(folder.clone(), Clock::start(), 500).unwrap();
    let recorder = writer.recorder();
    recorder.begin(S, Time(1));
    (0..20).for_each(|_| recorder.keep(S, draft(r#"{"type":"one"}"#)));
    recorder.forget(S);
    recorder.keep(S, draft(r#"{"type":"late"}"#));
    writer.finish();
    assert_eq!(folder.sessions(), Vec::new());
}

#[test]
fn a_long_message_is_cut_and_its_whole_size_is_said() {
    let data = tempfile::tempdir().unwrap();
    let folder = WireFolder::within(data.path());
    let writer = Writer::start(folder.clone(), Clock::start()).unwrap();
    let recorder = writer.recorder();
    recorder.begin(S, Time(1));
    // A key lies across the cut: no half of it may stay.
    let key = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
    let long = format!("{{\"type\":\"long\",\"x\":\"{} {key}{}\"}}", "é".repeat(32_750), "é".repeat(100_000));
    recorder.keep(S, draft(&long));
    writer.finish();
    let kept = entries(&folder, S);
    let raw = kept[1].raw.as_deref().unwrap();
    assert_eq!((kept[1].bytes, kept[1].cut, kept[1].name.as_str()), (long.len(), true, "long"));
    assert!(raw.len() <= MAX_RAW_BYTES && raw.len() > MAX_RAW_BYTES - 4, "{}", raw.len());
    assert!(!raw.contains("sk-"), "a half of the key is there");
}

#[test]
fn what_comes_too_fast_is_left_out_and_counted() {
    let data = tempfile::tempdir().unwrap();
    let folder = WireFolder::within(data.path());
    let (jobs, waiting) = mpsc::channel(MAX_WAITING);
    let shared = Arc::new(Shared {
        any: AtomicBool::new(true),
        waiting_bytes: AtomicUsize::new(0),
        left_out: Mutex::default(),
        written: watch::Sender::new(0),
        folder: folder.clone(),
        clock: Clock::start(),
    });
    let recorder = Recorder { jobs, shared: Arc::clone(&shared) };
    // Nobody writes yet.
    recorder.begin(S, Time(1));
    let flood = 3 * MAX_WAITING;
    (0..flood).for_each(|_| recorder.keep(S, draft(r#"{"type":"one"}"#)));
    drop(recorder);
    let pen = Pen { shared, secrets: Secrets::default(), ends: HashMap::new(), max_file: MAX_FILE_BYTES };
    pen.write(waiting);
    let kept = entries(&folder, S);
    let ones = kept.iter().filter(|entry| entry.name == "one").count();
    let left_out = kept.iter().find(|entry| entry.name == "left out").unwrap().why.clone().unwrap();
    assert!(ones <= MAX_WAITING && ones > 0);
    assert!(left_out.starts_with(&format!("{} messages", flood - ones)), "{left_out}, {ones} kept");
}

#[test]
fn large_messages_that_wait_are_bounded_by_their_bytes() {
    let data = tempfile::tempdir().unwrap();
    let (jobs, mut waiting) = mpsc::channel(MAX_WAITING);
    let shared = Shared {
        any: AtomicBool::new(true),
        waiting_bytes: AtomicUsize::new(0),
        left_out: Mutex::default(),
        written: watch::Sender::new(0),
        folder: WireFolder::within(data.path()),
        clock: Clock::start(),
    };
    let recorder = Recorder { jobs, shared: Arc::new(shared) };
    let long = draft(&"x".repeat(16 * 1024 * 1024));
    (0..1000).for_each(|_| recorder.keep(S, long.clone()));
    let mut bytes = 0;
    while let Ok(Job::Keep(_, draft)) = waiting.try_recv() {
        bytes += draft.raw.map_or(0, |raw| raw.len());
    }
    assert!(bytes <= MAX_WAITING_BYTES && bytes > MAX_WAITING_BYTES / 2, "{bytes}");
}

#[test]
fn secrets_are_gone_from_messages_and_from_reasons() {
    let data = tempfile::tempdir().unwrap();
    let folder = WireFolder::within(data.path());
    let writer = Writer::start(folder.clone(), Clock::start()).unwrap();
    let recorder = writer.recorder();
    recorder.hide(vec!["planted-value-1".to_owned()]);
    recorder.begin(S, Time(1));
    let why = Some("cannot read planted-value-1 in ghp_0123456789abcdefABCD".to_owned());
    recorder.keep(S, Draft { why, ..draft(r#"{"type":"planted-value-1","password":"planted 2"}"#) });
    writer.finish();
    let all = std::fs::read_to_string(data.path().join("wire/1.jsonl")).unwrap();
    assert!(!all.contains("planted") && !all.contains("ghp_"), "{all}");
    let kept = entries(&folder, S);
    assert_eq!(kept[1].raw.as_deref(), Some(r#"{"type":"[removed]","password":"[removed]"}"#));
    assert_eq!(kept[1].why.as_deref(), Some("cannot read [removed] in [removed]"));
}
