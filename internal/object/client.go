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

// A client sends requests, and repeats them after temporary errors. Its errors are *fault.Error or
// *canceledError. The client of a file on a web server has head and read only. It is not an
// interface, because then the linker would keep 1.5 MB of unused methods of minio-go.
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
	list      func(ctx context.Context, prefix string, limit int) ([]fs.FileInfo, error)
	hasBucket func(ctx context.Context) error

	// put and finish make an object visible. They also return how often they asked for it: after
	// an error, an earlier request may have taken effect.
	put    func(ctx context.Context, key string, data []byte, crc string, replace bool) (sent int, err error)
	finish func(ctx context.Context, key string, u upload, replace bool) (sent int, err error)

	// The following are for uploads in parts, which are numbered from 1.
	begin func(ctx context.Context, key string) (id string, err error)
	send  func(ctx context.Context, key, id string, number int, data []byte) (part, error)
	abort func(ctx context.Context, key, id string) error
}

// below is list. Web servers do not support it.
func (c *client) below(ctx context.Context, prefix string, limit int) ([]fs.FileInfo, error) {
	if c.list == nil {
		return nil, failed(fault.Usage, "the folders of web servers cannot be listed")
	}
	return c.list(ctx, prefix, limit)
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

// An upload is an object that is sent in parts, or in one request if it has no ID.
type upload struct {
	id    string
	bytes int64
	crc32 string // of the whole object
	parts []part
}

// A part is a part of an upload, with its ETag and CRC-32 as the storage returned them. There is no
// CRC-32 if checksums are off.
type part struct{ etag, crc32 string }

// checksum returns a CRC-32 as S3 writes it: base64 of four bytes, big-endian.
func checksum(sum uint32) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
}
