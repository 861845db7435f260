//! What the bench runs on, and how much of it was taken away meanwhile. Never changes a setting.

use std::fs::read_to_string;
use std::path::Path;

/// The machine in one line.
#[must_use]
pub fn description(data: &Path) -> String {
    let info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("an unknown processor");
    let cores = info.lines().filter(|line| line.starts_with("processor")).count();
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let memory = read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0);
    format!(
        "{cores} cores of {}, {} GB, Linux {}, data on {}",
        model.trim_start_matches([' ', '\t', ':']).trim(),
        kilobytes / 1_000_000,
        kernel.trim(),
        file_system(data)
    )
}

/// The kind and the device of the file system that holds a folder.
fn file_system(folder: &Path) -> String {
    let mounts = read_to_string("/proc/mounts").unwrap_or_default();
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    let best = mounts
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let (device, place, kind) = (words.first()?, words.get(1)?, words.get(2)?);
            folder.starts_with(place).then(|| (place.len(), format!("{kind} ({device})")))
        })
        .max_by_key(|(len, _)| *len);
    best.map_or_else(|| "an unknown disk".to_owned(), |(_, name)| name)
}

/// Processor time of the whole machine since its start, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    /// Those of now.
    #[must_use]
    pub fn now() -> Self {
        Self::of(&read_to_string("/proc/stat").unwrap_or_default())
    }

    fn of(stat: &str) -> Self {
        let numbers = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
        let numbers: Vec<u64> = numbers.filter_map(|word| word.parse().ok()).take(8).collect();
        Self { all: numbers.iter().sum(), stolen: numbers.get(7).copied().unwrap_or(0) }
    }

    /// The share that the machine below us took, from 0 to 1.
    #[must_use]
    pub fn stolen_since(self, before: Self) -> f64 {
        let all = self.all.saturating_sub(before.all);
        if all == 0 { 0.0 } else { self.stolen.saturating_sub(before.stolen) as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stolen_is_a_share_of_all_ticks() {
        let before = Ticks::of("cpu  100 0 50 800 0 0 0 50 0 0\ncpu0 1 2 3\n");
        let after = Ticks::of("cpu  130 0 60 850 0 0 0 60 0 0\n");
        assert!((after.stolen_since(before) - 0.1).abs() < 1e-9);
        assert!(after.stolen_since(after).abs() < 1e-9);
    }

    #[test]
    fn the_machine_is_described_by_its_cores_and_its_disk() {
        let text = description(Path::new("/"));
        assert!(text.contains("cores of") && text.contains("data on"), "{text}");
    }
}
