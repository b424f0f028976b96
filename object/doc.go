// Package object reads and writes objects of object storage by URL: s3://bucket/key, gs://bucket/key, azblob://container/key, file:///path.
//
// A [Store] belongs to one run. [Store.Take] separates the address of an object from what stands behind its question mark, which the store
// remembers for the bucket; from then on an object is called by its address alone, and no message holds more than that. The store opens a [Reader] or makes
// a [Writer], and lists keys below a prefix as the entries of a folder.
//
// # Reading
//
// A Reader is sequential and random access at once. Sequential reads fetch pieces of up to 8 MiB, at most four of them in memory; random ones go
// through a few blocks that are kept. A request that fails with a server's error, a reset connection, too few bytes, or that goes without any
// bytes for a while is repeated after a growing pause of random length, from the byte where it stopped. All requests ask for the version of the object that was found
// when it was opened; if there is another, reads fail with fault.Changed.
//
// # Writing
//
// The invariant: under the key is either what was there before, or the whole of what was written. To S3 a Writer sends parts of 8 MiB (32 MiB
// after the first 2,000) while it is written to, two at a time; Complete waits for them, and Commit makes them an object in one step, which is conditional (If-None-Match)
// unless the object may be replaced. An object of less than a part is one request. If that last answer is lost, the Writer looks whether the object is
// there, with the size and the checksum of what was written. Discard removes the parts; those of a process that was killed remain, unseen, until a lifecycle
// rule of the bucket removes them.
//
// # Uploads that one process makes and another ends
//
// On S3, [Writer.Hold] in place of Commit leaves the upload as it is, and returns a [Receipt], with which any process makes the object seen:
// [Store.Publish]. That never replaces another object, and does no harm when it is done twice. [Store.Holds] tells whether the upload is still there,
// [Store.Drop] ends it, and [Store.Sweep] ends all below a prefix. Other storages show what they have: [Store.CanHold] tells so before any work.
//
// Small objects that say how work stands, on any storage, are for [Store.Put], [Store.Get] and [Store.Remove].
//
// # Builds
//
// S3 and files are always there, unless the program is built with the tag lean: then package object reaches no network, and every URL is an error that says
// so. The tags gs and azblob add those.
package object
