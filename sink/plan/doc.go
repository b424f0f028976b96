// Package plan lets many runs make one output. A [Plan] says, before anything is made, which rows
// go into which part, what the inputs are, and with which options each part is made; it is a file
// that every run gets. Who starts the runs, and where, is left to schedulers.
//
//	plan    the ranges of rows, a hash over the bytes of each, the names of the parts; its own name is
//	        the hash of all that
//	part    is made under a name of its own and then takes its place, unless it is there: twice, at
//	        once or later, is harmless
//	commit  each part is there once, with the rows, the size and the hash that its task told; then the
//	        folder appears whole
//
// Where a target is, is asked once: a place, on a file system or in object storage, puts, reads,
// lists, checks, publishes and removes parts and tasks.
//
// # Names
//
// Beside a target named base stands, from the first part until commit or abort,
//
//	.<base>.idxport-plan-<8 hex>/attempts/…            parts on their way
//	.<base>.idxport-plan-<8 hex>/parts/part-00017-<8 hex>.parquet
//	.<base>.idxport-plan-<8 hex>/tasks/part-00017-<8 hex>.json
//
// where the digits are the first of the plan's ID, and a task tells what was made: rows, bytes,
// sha256. On a file system, commit puts an empty _SUCCESS into parts and renames that to base:
// readers see all parts or none. Nothing but this one step makes anything visible, so runs that
// were killed, and attempts that end after it, leave what nobody reads.
//
// In object storage, a part is an upload that is whole and not completed, under the key
// base/part-00017-<8 hex>.parquet that it shall have; its task has the receipt. Commit completes
// the uploads, one after another, and puts base/_SUCCESS last. While it is at work, and while an
// abort is, an object .<base>.idxport-plan says whose: so no two plans complete parts of one table,
// and of a commit and an abort at once at least one sees the other.
//
// The invariant: a part's name stands for its bytes. The same plan and the same version of the
// program make the same bytes, which is checked wherever two attempts meet.
package plan
