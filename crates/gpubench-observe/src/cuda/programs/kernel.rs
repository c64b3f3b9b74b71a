//! Where the running kernel keeps what the programs read of processes.

use gpubench_bpf::{BpfError, KernelTypes};

/// Offsets in the kernel's structures, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    pub(super) task_process: i32,
    pub(super) task_leader: i32,
    pub(super) task_pid: i32,
    pub(super) pid_level: i32,
    pub(super) pid_numbers: i32,
    pub(super) task_signal: i32,
    pub(super) task_memory: i32,
    pub(super) task_status: i32,
    pub(super) signal_live: i32,
    pub(super) memory_arguments: i32,
    pub(super) memory_arguments_end: i32,
    pub(super) memory_file: i32,
    pub(super) file_entry: i32,
    pub(super) entry_name: i32,
    pub(super) exec_path: i32,
}

impl Offsets {
    pub(super) fn from_types(types: &KernelTypes) -> Result<Offsets, BpfError> {
        Ok(Offsets {
            task_process: types.offset("task_struct", "tgid")?,
            task_leader: types.offset("task_struct", "group_leader")?,
            task_pid: types.offset("task_struct", "thread_pid")?,
            pid_level: types.offset("pid", "level")?,
            pid_numbers: types.offset("pid", "numbers")?,
            task_signal: types.offset("task_struct", "signal")?,
            task_memory: types.offset("task_struct", "mm")?,
            task_status: types.offset("task_struct", "exit_code")?,
            signal_live: types.offset("signal_struct", "live.counter")?,
            memory_arguments: types.offset("mm_struct", "arg_start")?,
            memory_arguments_end: types.offset("mm_struct", "arg_end")?,
            memory_file: types.offset("mm_struct", "exe_file")?,
            file_entry: types.offset("file", "f_path.dentry")?,
            entry_name: types.offset("dentry", "d_name.name")?,
            exec_path: types.offset("linux_binprm", "filename")?,
        })
    }
}
