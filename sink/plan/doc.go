// Package plan lets many processes make one output. A [Plan] fixes, before anything is made, the
// rows of each part, the bytes of the inputs and the options. It is a file that every process
// reads. Starting the processes is left to schedulers.
//
//	plan    ranges of rows, hashes of their bytes in the inputs, names of the parts; the plan's ID
//	        is the hash of all that
//	part    is made under a temporary name and then moved into its place, unless it exists: making
//	        a part twice, even at the same time, is harmless
//	commit  checks that each part exists with the rows, size and hash of its result; then the folder
//	        is published as a whole
//
// A place is a target on a file system or in object storage: it puts, reads, lists, checks,
// publishes and removes parts and results.
//
// # Names
//
// Beside a target named base there is, from the first part until commit or abort,
//
//	.<base>.idxport-plan-<8 hex>/attempts/…            parts that are being made
//	.<base>.idxport-plan-<8 hex>/parts/part-00017-<8 hex>.parquet
//	.<base>.idxport-plan-<8 hex>/tasks/part-00017-<8 hex>.json
//
// where the digits are the first of the plan's ID, and the files in tasks are results: rows, bytes
// and sha256 of a part. On a file system, commit puts an empty _SUCCESS into parts and renames that
// to base: readers see all parts or none. Nothing but this step makes anything visible, so killed
// processes, and attempts that end after it, only leave hidden files behind.
//
// In object storage, a part is a complete upload that is not published, under its final key
// base/part-00017-<8 hex>.parquet; its result has the PendingUpload. Commit publishes the uploads,
// one after another, and puts base/_SUCCESS last. While a commit or an abort runs, an object
// .<base>.idxport-plan is its lease: no two plans publish parts of one table, and of a commit and
// an abort at the same time at least one notices the other.
//
// The invariant: a part's name identifies its bytes. The same plan and the same version of the
// program make the same bytes, which is checked wherever two attempts meet.
package plan
