package object

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"io/fs"
	"time"

	"github.com/idxport/idxport/fault"
)

// An identity describes one version of an object.
type identity struct {
	size    int64
	etag    string // of the version, with its quotes; may be empty
	crc32   string // of the whole object, in base64; empty if unknown
	modTime time.Time
}

// A client sends each request once, and cancels requests that stall. Its errors are *fault.Error or
// *canceledError. The client of a file on a web server has head and read only. It is not an
// interface, because then the linker would keep 1.5 MB of unused methods of minio-go.
type client struct {
	head func(ctx context.Context, key string) (identity, error)
	// read fills p with the bytes of the given version of the object, from offset on. It returns
	// the number of bytes read, even with an error. If the object has another version, read fails
	// with fault.Changed, or with fault.Exists if the server refused the condition If-Match.
	read func(ctx context.Context, key string, version identity, offset int64, p []byte) (int, error)
	// list returns the objects directly below a prefix, which is empty or ends with a slash, and
	// the prefixes of deeper objects. With firstOnly it returns at most one entry.
	list      func(ctx context.Context, prefix string, firstOnly bool) ([]fs.FileInfo, error)
	hasBucket func(ctx context.Context) error
	put       func(ctx context.Context, key string, data []byte, crc string, replace bool) error
	remove    func(ctx context.Context, key string) error

	// The following are for uploads in parts, which are numbered from 1. Those with an id fail with
	// ErrNoUpload if there is no such upload.
	begin   func(ctx context.Context, key string) (id string, err error)
	send    func(ctx context.Context, key, id string, number int, data []byte) (Part, error)
	finish  func(ctx context.Context, key string, u PendingUpload, replace bool) error
	abort   func(ctx context.Context, key, id string) error
	parts   func(ctx context.Context, key, id string) ([]Part, error) // in order
	uploads func(ctx context.Context, prefix string, after uploadRef) (uploads []uploadRef, next uploadRef, err error)
}

// A bucket is a client, and how its requests are repeated: by retry and the functions that use it.
type bucket struct {
	client
	Options
}

// find is head, repeated after temporary errors.
func (b *bucket) find(ctx context.Context, key string) (identity, error) {
	return retried(ctx, b.Options, func() (identity, error) { return b.head(ctx, key) })
}

// below is list, repeated after temporary errors. Web servers do not support it.
func (b *bucket) below(ctx context.Context, prefix string, firstOnly bool) ([]fs.FileInfo, error) {
	if b.list == nil {
		return nil, failed(fault.Usage, "the folders of web servers cannot be listed")
	}
	return retried(ctx, b.Options, func() ([]fs.FileInfo, error) { return b.list(ctx, prefix, firstOnly) })
}

// info is the fs.FileInfo of an object or a prefix.
type info struct {
	name    string // empty for the object that some programs make for a folder
	size    int64
	modTime time.Time
	folder  bool
}

func (i info) Name() string { return i.name }

func (i info) Size() int64 { return i.size }

func (i info) ModTime() time.Time { return i.modTime }

func (i info) IsDir() bool { return i.folder }

func (i info) Sys() any { return nil }

// Mode is that of a file or folder that everyone may read.
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// A PendingUpload is a complete upload that is not visible yet. Another process can publish it. It
// is part of the JSON of results of parts, so its fields do not change. It contains no secret:
// using it requires permission to write to the bucket.
type PendingUpload struct {
	Upload string `json:"upload,omitempty"` // its ID; empty if the object has no bytes, and nothing was sent
	Bytes  int64  `json:"bytes"`
	CRC32  string `json:"crc32"` // of the whole object: base64 of four bytes, big-endian
	Parts  []Part `json:"parts,omitempty"`
}

// A Part is a part of an upload. ETag and CRC32 are as the storage returned them.
type Part struct {
	ETag  string `json:"etag"`
	CRC32 string `json:"crc32,omitempty"` // empty if checksums are off
	Bytes int64  `json:"bytes"`

	number int // from 1, of a part that the storage listed
}

// An uploadRef identifies an upload. It also selects a page of a list of uploads: the page that
// begins after this upload, or the first page if it is zero.
type uploadRef struct{ key, id string }

// validate returns a fault.Malformed if the upload, which was read from a file, is inconsistent.
func (u PendingUpload) validate() error {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Malformed, "not a pending upload: "+format, args...)
	}
	if sum, err := base64.StdEncoding.DecodeString(u.CRC32); err != nil || len(sum) != 4 {
		return wrong("found no CRC-32 of the whole object, expected 4 bytes in base64")
	}
	if u.Upload == "" && (u.Bytes != 0 || len(u.Parts) > 0) {
		return wrong("found no upload, expected one for %d bytes in %d parts", u.Bytes, len(u.Parts))
	}
	var bytes int64
	for i, p := range u.Parts {
		if p.Bytes <= 0 || p.ETag == "" {
			return wrong("found part %d with %d bytes and the ETag %q, expected neither to be empty", i+1, p.Bytes, scrub(p.ETag))
		}
		bytes += p.Bytes
	}
	if bytes != u.Bytes || u.Upload != "" && len(u.Parts) == 0 {
		return wrong("found %d bytes in %d parts, expected %d in one or more", bytes, len(u.Parts), u.Bytes)
	}
	return nil
}

// noProgress returns the error for a server that lists the same page again as the next one.
func noProgress() error {
	return failed(fault.IO, "the server lists the same page of objects again and again").WithHint("check ?endpoint= and what the server supports")
}

// checksum returns a CRC-32 as S3 writes it: base64 of four bytes, big-endian.
func checksum(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
