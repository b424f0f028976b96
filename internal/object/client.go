package object

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"time"
)

// Options control how requests are repeated. The zero value suits cloud networks.
type Options struct {
	Attempts int           // maximum for each request; 0 means 8, which end in 5 s if all fail at once
	Stall    time.Duration // a request fails after this time without a byte; 0 means 30 s

	partSize int                  // bytes of the parts of an upload; 0 means the constant partSize
	refused  func(address string) // is called when a server refuses a connection
}

// partSize is the size of the parts of an upload in bytes. Only the last may be smaller.
const partSize = 8 << 20

// maxPause is the longest of the random pauses between attempts; tests shorten it.
var maxPause = 800 * time.Millisecond

// pause waits after attempt n, which failed with err, and returns nil if there is another attempt,
// or else the error. minio-go does the same, but not for an answer that ends too early.
func (o Options) pause(ctx context.Context, err error, n int) error {
	if !errors.Is(err, errTemporary) || n >= o.Attempts {
		return err
	}
	select {
	case <-time.After(rand.N(maxPause + 1)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// An identity describes one version of an object.
type identity struct {
	size    int64
	etag    string // of the version, with its quotes; may be empty
	weak    string // of a file on a web server without a strong ETag: its weak ETag and time
	mark    string // of the upload that made the object; empty if another program made it
	modTime time.Time
}

// A client sends requests, and repeats them after temporary errors. Its errors are *fault.Error, or
// the cause of the end of the context. The client of a file on a web server has head, read and list
// only. An interface would make the linker keep 1.5 MB of unused methods of minio-go.
type client struct {
	Options
	head func(ctx context.Context, key string) (identity, error)
	// read fills p with the bytes of the given version of the object, from offset on. It returns
	// the number of bytes read, even with an error; if this is temporary, the caller asks for the
	// rest. If the object has another version, read fails with fault.Changed, or with fault.Exists
	// if the server refused the condition If-Match.
	read func(ctx context.Context, key string, version identity, offset int64, p []byte) (int, error)
	// list returns the objects directly below a prefix, which is empty or ends with a slash, and
	// the prefixes of deeper objects, in no order: all, or at most limit entries if limit > 0.
	list func(ctx context.Context, prefix string, limit int) ([]fs.DirEntry, error)

	// begin returns the ID of an upload in parts; send sends one of them, numbered from 1.
	begin func(ctx context.Context, key string, u upload) (id string, err error)
	send  func(ctx context.Context, key, id string, number int, data []byte) (part, error)
	// finish makes an object visible. After an error, an earlier attempt may have succeeded.
	finish func(ctx context.Context, key string, u upload) error
	abort  func(ctx context.Context, key, id string) error
}

// An upload is an object that is sent in parts, or in one request if it has no ID.
type upload struct {
	id      string
	mark    string  // random, stored with the object
	replace bool    // replace an existing object
	crc32   string  // of the whole object
	parts   []*part // in order, filled in by the answers
	data    []byte  // of an upload without an ID
}

// A part is a part of an upload, with its ETag and CRC-32, if checksums are on, from the storage.
type part struct{ etag, crc32 string }

// checksum returns a CRC-32 as S3 writes it: base64 of four bytes, big-endian.
func checksum(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}

// info is the fs.FileInfo of an object or a prefix.
type info struct {
	name    string // empty for the object that some programs make for a folder
	size    int64
	modTime time.Time
	folder  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modTime }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }

// Mode is that of a file or folder that everyone may read.
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
