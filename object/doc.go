// Package object reads and writes objects of S3, and of servers that speak it, by URL: s3://bucket/key.
//
// A [Store] belongs to one run. [Store.ParseArg] separates the URL of an object from the parameters
// after its question mark, which the store remembers for the bucket; from then on an object is named
// by its URL alone, and no message holds more than that. The store opens a [Reader] or makes a
// [Writer], and lists keys below a prefix as the entries of a folder.
//
// # Reading
//
// A Reader is sequential and random access at once. Sequential reads fetch pieces of up to 8 MiB, at
// most four of them in memory; random ones go through a few blocks that are kept. A request that
// fails with a server's error, a reset connection, too few bytes, or that goes without any bytes for
// a while is repeated after a growing pause of random length, from the byte where it stopped. All
// requests ask for the version of the object that was found when it was opened; if there is another,
// reads fail with fault.Changed.
//
// # Writing
//
// The invariant: under the key is either what was there before, or the whole of what was written. A
// Writer sends parts of 8 MiB (32 MiB after the first 2,000) while it is written to, two at a time;
// Complete waits for them, and Commit makes them an object in one step, which is conditional
// (If-None-Match) unless the object may be replaced. An object of less than a part is one request. If
// that last answer is lost, the Writer looks whether the object is there, with the size and the
// checksum of what was written. Discard removes the parts; those of a process that was killed remain,
// unseen, until a lifecycle rule of the bucket removes them.
//
// # Uploads that one process makes and another ends
//
// [Writer.Stage] in place of Commit leaves the upload as it is, and returns a [PendingUpload], with
// which any process makes the object visible: [Store.Publish]. That never replaces another object,
// and does no harm when it is done twice. [Store.Check] looks whether the upload is still there,
// [Store.Abort] ends it, and [Store.Sweep] ends all below a prefix.
//
// Small objects that say how work stands are for [Store.Put], [Store.Get] and [Store.Remove].
//
// # Builds
//
// With the build tag lean the package reaches no network, and every URL is an error that says so.
package object
