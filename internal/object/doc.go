// Package object reads and writes objects in S3, and in storage with the same API, by URL:
// s3://bucket/key. It also reads files on web servers: https://host/path.
//
// A [Store] belongs to one run. [Store.ParseArg] removes the parameters after the question mark
// of a URL, and the store keeps them for the bucket, or for the file on a web server. The store
// opens a [Reader] or creates a [Writer], and lists keys as the entries of a folder.
//
// # Reading
//
// Sequential reads fetch pieces of up to 8 MiB, at most four of them in memory; random reads use a
// cache of a few blocks. All requests ask for the version that the object had when it was opened;
// if it has changed, reads fail with fault.Changed. The version of a file on a web server is its
// strong ETag, or else its weak ETag, time and length.
//
// # Writing
//
// The invariant: a key has either its old object or the complete new one. A Writer sends parts of
// 8 MiB while it is written to, two at a time. Commit makes them an object with one request,
// which is conditional (If-None-Match) unless an object may be replaced. If it fails, the Writer
// looks for the random mark of its upload in the object that exists, as an answer may have been
// lost. The parts of a killed process stay until a lifecycle rule of the bucket removes them.
//
// # Attempts
//
// minio-go repeats requests after errors of the server and of the connection, at most
// Options.Attempts times. So does the package with reads that end too early and requests to web
// servers. A connection fails after Options.Stall without a byte.
package object
