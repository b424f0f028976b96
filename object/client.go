package object

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io/fs"
	"time"

	"github.com/idxport/idxport/fault"
)

// An identity is one version of an object, as it was found.
type identity struct {
	size    int64
	etag    string // as the storage calls the version, with its quotes; may be empty
	crc32   string // of the whole object, as S3 writes it; empty if the storage does not say
	modTime time.Time
}

// A client makes one request each, watches that it does not stand still, and repeats nothing. Its
// errors are a *fault.Error, or those of package context. It is no interface, behind which the linker
// would keep 1.5 MB of methods of minio-go that nobody calls.
type client struct {
	head func(ctx context.Context, key string) (identity, error)
	// read fills p with the bytes from offset on, of this version of the object; it returns how many
	// came, also with an error. fault.Changed tells that there is another version.
	read func(ctx context.Context, key string, version identity, offset int64, p []byte) (int, error)
	// list is what lies below a prefix that is empty or ends with a slash: objects, and prefixes in
	// place of what lies deeper. It makes as many requests as that takes, unless one entry is enough.
	list      func(ctx context.Context, prefix string, one bool) ([]fs.FileInfo, error)
	hasBucket func(ctx context.Context) error
	put       func(ctx context.Context, key string, data []byte, crc string, replace bool) error
	remove    func(ctx context.Context, key string) error

	// These are for uploads in parts, which are numbered from 1. What is not there is ErrNoUpload.
	begin   func(ctx context.Context, key string) (id string, err error)
	send    func(ctx context.Context, key, id string, number int, data []byte) (Part, error)
	finish  func(ctx context.Context, key string, u PendingUpload, replace bool) error
	abort   func(ctx context.Context, key, id string) error
	parts   func(ctx context.Context, key, id string) ([]Part, error) // all, in their order
	uploads func(ctx context.Context, prefix string, after mark) (uploads []mark, next mark, err error)
}

// A bucket is a client with patience.
type bucket struct {
	client
	Options
}

// find is head with patience.
func (b *bucket) find(ctx context.Context, key string) (identity, error) {
	return retried(ctx, b.Options, func() (identity, error) { return b.head(ctx, key) })
}

// below is list with patience.
func (b *bucket) below(ctx context.Context, prefix string, one bool) ([]fs.FileInfo, error) {
	return retried(ctx, b.Options, func() ([]fs.FileInfo, error) { return b.list(ctx, prefix, one) })
}

// info is what is known of an object or a prefix.
type info struct {
	name    string // empty: the object that some programs make for a folder
	size    int64
	modTime time.Time
	folder  bool
}

func (i info) Name() string { return i.name }

func (i info) Size() int64 { return i.size }

func (i info) ModTime() time.Time { return i.modTime }

func (i info) IsDir() bool { return i.folder }

func (i info) Sys() any { return nil }

// Mode is that of a file or folder that anyone may read.
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// String is for messages of tests.
func (i info) String() string { return fmt.Sprintf("%s, %d bytes", i.name, i.size) }

// A PendingUpload is an upload that is whole in its storage, but not visible yet: what another process
// needs to make it visible. It is written as JSON into files of plans, so its fields do not change. It
// holds no secret: what it allows, whoever may write to the bucket may do.
type PendingUpload struct {
	Upload string `json:"upload,omitempty"` // as the storage calls it; empty: the object has no bytes, and nothing was sent
	Bytes  int64  `json:"bytes"`
	CRC32  string `json:"crc32"` // of the whole, as S3 writes it: base64 of four bytes, big-endian
	Parts  []Part `json:"parts,omitempty"`
}

// A Part is a part of an upload, which are numbered from 1 in their order.
type Part struct {
	ETag  string `json:"etag"`            // as the storage answered
	CRC32 string `json:"crc32,omitempty"` // as the storage answered; empty if it was not asked
	Bytes int64  `json:"bytes"`

	number int // of one that the storage has listed
}

// A mark is an upload, and where a page of a list of uploads begins: behind that one. Its zero value
// is the first page.
type mark struct{ key, id string }

// valid says what is wrong with an upload that was read from a file, before anything is done with it.
func (u PendingUpload) valid() error {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Malformed, "not a pending upload: "+format, args...)
	}
	if sum, err := base64.StdEncoding.DecodeString(u.CRC32); err != nil || len(sum) != 4 {
		return wrong("found no CRC-32 of the whole, expected the base64 of 4 bytes")
	}
	if u.Upload == "" && (u.Bytes != 0 || len(u.Parts) > 0) {
		return wrong("found no upload, expected one for %d bytes in %d parts", u.Bytes, len(u.Parts))
	}
	var bytes int64
	for i, p := range u.Parts {
		if p.Bytes <= 0 || p.ETag == "" {
			return wrong("found part %d with %d bytes and the ETag %q, expected both", i+1, p.Bytes, scrub(p.ETag))
		}
		bytes += p.Bytes
	}
	if bytes != u.Bytes || u.Upload != "" && len(u.Parts) == 0 {
		return wrong("found %d bytes in %d parts, expected %d in one or more", bytes, len(u.Parts), u.Bytes)
	}
	return nil
}

// endless is the error for a list whose next page is the one that was given.
func endless() error {
	return failed(fault.IO, "found a list whose pages do not advance").WithHint("check the server's ?endpoint= and what it supports")
}

// checksum is a CRC-32 as S3 writes it: base64 of four bytes, big-endian.
func checksum(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
