// Package plan lets many processes make one output. A [Plan] fixes, before anything is made, the
// rows of each part, the bytes of the inputs and the options. It is a file that every process
// reads. A scheduler starts the processes.
//
//	plan    ranges of rows, hashes of their bytes in the inputs, names of the parts; the plan's ID
//	        is the hash of all that
//	part    is made under a temporary name and then moved into its place, unless it exists: making
//	        a part twice, even at the same time, is harmless
//	commit  checks that each part exists with the size and hash (of an object: the ETags) in its
//	        result; then it publishes the folder as a whole
//
// The interface storage is for the parts and results of one target. It is implemented by folder,
// for file systems, and by bucket, for object storage.
//
// # Names
//
// From the first part until commit or abort, there are these files beside a target named base:
//
//	.<base>.idxport-plan-<8 hex>/attempts/…            parts that are being made
//	.<base>.idxport-plan-<8 hex>/parts/part-00017-<8 hex>.parquet
//	.<base>.idxport-plan-<8 hex>/tasks/part-00017-<8 hex>.json
//
// where the digits are the first of the plan's ID, and the files in tasks are results: rows, bytes
// and sha256 of a part. On a file system, commit puts an empty _SUCCESS into the folder parts and
// renames this folder to base: readers see all parts or none. No other step makes anything visible,
// so killed processes, and attempts that end after commit, leave only hidden files behind.
//
// In object storage, a part is a complete upload that is not published, under its final key
// base/part-00017-<8 hex>.parquet; its result has the PendingUpload. Commit publishes the uploads,
// one after another, and puts base/_SUCCESS last. While a commit or an abort runs, the object
// .<base>.idxport-plan is its lease: two plans never publish parts of one table, and if a commit
// and an abort of one plan run at the same time, at least one of them notices the other.
//
// The invariant: a part's name identifies its bytes. The same plan and the same version of the
// program make the same bytes, which is checked if a part is made more than once.
package plan
