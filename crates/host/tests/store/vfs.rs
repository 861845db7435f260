//! A way to the disk that notes every write, sync and deletion in order, and fails when it is told to. It passes everything
//! on to the engine's own way; never changes a byte.
#![expect(unsafe_code, reason = "the engine's interface to a disk is C")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use rusqlite::ffi::{
    SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_OK, sqlite3_file, sqlite3_filename, sqlite3_int64,
    sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

/// One thing that happened to the disk, or one answer that the store gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// The file exists now.
    Open(usize),
    /// Bytes at an offset.
    Write(usize, u64, Vec<u8>),
    /// A new length.
    Truncate(usize, u64),
    /// All of the file so far is durable.
    Sync(usize),
    /// The file is gone.
    Delete(usize),
    /// The store said that a commit is done.
    Ack(u64),
}

/// What the tests see of it.
#[derive(Default)]
pub(crate) struct Disk {
    log: Mutex<Log>,
    /// Every write finds the disk full.
    pub(crate) full: AtomicBool,
    /// Every sync fails.
    pub(crate) sync_fails: AtomicBool,
}

#[derive(Default)]
pub(crate) struct Log {
    /// File names without their folder; a file's number is its place here.
    pub(crate) names: Vec<String>,
    numbers: HashMap<String, usize>,
    pub(crate) ops: Vec<Op>,
}

impl Log {
    fn number(&mut self, path: &str) -> usize {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let next = self.names.len();
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

impl Disk {
    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap()
    }

    pub(crate) fn ack(&self, ticket: u64) {
        self.log().ops.push(Op::Ack(ticket));
    }
}

/// Registers a disk under a name of its own. It lives as long as the process.
pub(crate) fn register(name: &str) -> Arc<Disk> {
    let disk = Arc::new(Disk::default());
    // SAFETY: the engine's own VFS is never unregistered, and neither is this copy, which is leaked for that reason.
    unsafe {
        let real = sqlite3_vfs_find(std::ptr::null());
        let mut vfs = std::ptr::read(real);
        vfs.szOsFile = (size_of::<Shim>() as c_int) + (*real).szOsFile;
        vfs.zName = CString::new(name).unwrap().into_raw();
        vfs.pNext = std::ptr::null_mut();
        vfs.pAppData = Box::into_raw(Box::new(Way { real, disk: disk.clone() })).cast();
        vfs.xOpen = Some(open);
        vfs.xDelete = Some(delete);
        assert_eq!(sqlite3_vfs_register(Box::into_raw(Box::new(vfs)), 0), SQLITE_OK);
    }
    disk
}

struct Way {
    real: *mut sqlite3_vfs,
    disk: Arc<Disk>,
}

/// A file; the engine's own follows it in memory.
#[repr(C)]
struct Shim {
    base: sqlite3_file,
    way: *const Way,
    number: usize,
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// Calls a method of the file that follows the shim.
macro_rules! real {
    ($file:expr, $method:ident $(, $arg:expr)*) => {{
        let real = $file.cast::<Shim>().add(1).cast::<sqlite3_file>();
        ((*(*real).pMethods).$method.unwrap_unchecked())(real $(, $arg)*)
    }};
}

unsafe fn shim<'a>(file: *mut sqlite3_file) -> (&'a Disk, usize) {
    // SAFETY: the engine hands back only files that `open` made, and the way is leaked.
    unsafe {
        let shim = file.cast::<Shim>();
        (&(*(*shim).way).disk, (*shim).number)
    }
}

unsafe extern "C" fn open(
    vfs: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: `vfs` is ours, `file` has room for a shim and the engine's own file behind it.
    unsafe {
        let shim = file.cast::<Shim>();
        (*shim).base.pMethods = std::ptr::null();
        let way = (*vfs).pAppData.cast::<Way>();
        let real = shim.add(1).cast::<sqlite3_file>();
        let Some(real_open) = (*(*way).real).xOpen else { return SQLITE_CANTOPEN };
        let result = real_open((*way).real, name, real, flags, out);
        if result == SQLITE_OK {
            let path = if name.is_null() { "temp".into() } else { CStr::from_ptr(name).to_string_lossy() };
            let mut log = (*way).disk.log();
            let number = log.number(&path);
            log.ops.push(Op::Open(number));
            (*shim).way = way;
            (*shim).number = number;
            (*shim).base.pMethods = &METHODS;
        }
        result
    }
}

unsafe extern "C" fn delete(vfs: *mut sqlite3_vfs, name: *const c_char, sync_folder: c_int) -> c_int {
    // SAFETY: `vfs` is ours and `name` is a path.
    unsafe {
        let way = (*vfs).pAppData.cast::<Way>();
        let Some(real_delete) = (*(*way).real).xDelete else { return SQLITE_CANTOPEN };
        let mut log = (*way).disk.log();
        let number = log.number(&CStr::from_ptr(name).to_string_lossy());
        let result = real_delete((*way).real, name, sync_folder);
        log.ops.push(Op::Delete(number));
        result
    }
}

unsafe extern "C" fn write(file: *mut sqlite3_file, bytes: *const c_void, count: c_int, at: sqlite3_int64) -> c_int {
    // SAFETY: the engine passes `count` readable bytes.
    unsafe {
        let (disk, number) = shim(file);
        let mut log = disk.log();
        if disk.full.load(Ordering::Acquire) {
            return SQLITE_FULL;
        }
        let data = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize).to_vec();
        log.ops.push(Op::Write(number, at as u64, data));
        real!(file, xWrite, bytes, count, at)
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    // SAFETY: passed on as it came.
    unsafe {
        let (disk, number) = shim(file);
        let mut log = disk.log();
        log.ops.push(Op::Truncate(number, size as u64));
        real!(file, xTruncate, size)
    }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: passed on as it came.
    unsafe {
        let (disk, number) = shim(file);
        let mut log = disk.log();
        if disk.sync_fails.load(Ordering::Acquire) {
            return SQLITE_IOERR_FSYNC;
        }
        let result = real!(file, xSync, flags);
        log.ops.push(Op::Sync(number));
        result
    }
}

/// Methods that are only passed on.
macro_rules! pass {
    ($name:ident, $method:ident $(, $arg:ident: $kind:ty)*) => {
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $arg: $kind)*) -> c_int {
            // SAFETY: passed on as it came.
            unsafe { real!(file, $method $(, $arg)*) }
        }
    };
}

pass!(close, xClose);
pass!(read, xRead, bytes: *mut c_void, count: c_int, at: sqlite3_int64);
pass!(file_size, xFileSize, size: *mut sqlite3_int64);
pass!(lock, xLock, level: c_int);
pass!(unlock, xUnlock, level: c_int);
pass!(check_reserved_lock, xCheckReservedLock, out: *mut c_int);
pass!(file_control, xFileControl, op: c_int, arg: *mut c_void);
pass!(sector_size, xSectorSize);
pass!(device_characteristics, xDeviceCharacteristics);
pass!(shm_map, xShmMap, page: c_int, size: c_int, extend: c_int, out: *mut *mut c_void);
pass!(shm_lock, xShmLock, offset: c_int, count: c_int, flags: c_int);
pass!(shm_unmap, xShmUnmap, remove: c_int);

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    // SAFETY: passed on as it came.
    unsafe { real!(file, xShmBarrier) }
}
