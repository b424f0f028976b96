// Package object reads and writes objects in S3, and in storage with the same API, by URL:
// s3://bucket/key. It also reads files on web servers: https://host/path.
//
// A [Store] belongs to one run. [Store.ParseArg] removes the parameters after the question mark of
// a URL, and the store keeps them for the bucket, or for the file on a web server. From then on,
// callers and messages use the URL without parameters. The store opens a [Reader] or creates a
// [Writer], and lists the keys below a prefix as the entries of a folder.
//
// # Reading
//
// A Reader supports sequential and random access. Sequential reads fetch pieces of up to 8 MiB, at
// most four of them in memory; random reads use a cache of a few blocks. If the server reports an
// error of its own, the connection breaks, or no bytes arrive for a while, the request is repeated
// after a growing pause of random length, from the byte where it stopped. All requests ask for the
// version that the object had when it was opened; if the object has changed, reads fail with
// fault.Changed.
//
// A file on a web server is read in the same way. Its version is its strong ETag, or else its weak
// ETag, time and length. If the server does not send parts of files, the first request copies the
// file to a scratch file, from which the Reader reads.
//
// # Writing
//
// The invariant: a key has either its old object or the complete new one. A Writer sends parts of
// 8 MiB (32 MiB after the first 2,000) while it is written to, two at a time. Complete waits for
// them, and Commit makes them an object with one request, which is conditional (If-None-Match)
// unless an object may be replaced. An object smaller than a part is sent by Commit. If the answer
// to the request of Commit is lost, the Writer checks whether an object with the size and checksum
// of the written bytes exists. Discard removes the parts. A killed process leaves its parts behind,
// invisible, until a lifecycle rule of the bucket removes them.
//
// # Builds
//
// With the build tag lean the package contains no network code, and every URL is an error.
package object
