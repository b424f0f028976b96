package fake

import (
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Server has one bucket, named bkt, in paths.
type Server struct {
	mu      sync.Mutex
	objects map[string]stored
	uploads map[string]*upload // by their ids
	busy    int                // the next requests to make an object that conflict with another
	sent    int64              // bytes of objects that were given out
	asked   []string           // requests: method, key, range
}

type stored struct {
	data []byte
	etag string
	meta http.Header // the user's own metadata
}

// metadata returns the headers of a request that are stored with the object.
func metadata(h http.Header) http.Header {
	meta := http.Header{}
	for name, values := range h {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			meta[name] = values
		}
	}
	return meta
}

// New is a server without objects.
func New() *Server {
	return &Server{objects: map[string]stored{}, uploads: map[string]*upload{}}
}

// Put stores an object directly.
func (f *Server) Put(key string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = stored{data: data, etag: fmt.Sprintf(`"%x"`, md5.Sum(data))}
}

// Get is an object, if it is there.
func (f *Server) Get(key string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.objects[key]
	return o.data, ok
}

// Left is how many uploads in parts are not ended.
func (f *Server) Left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.uploads)
}

// Remove removes an object.
func (f *Server) Remove(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, key)
}

// Conflicts makes the next n requests that demand that a key is free fail, as they do on S3 while
// another one for the same key is carried out.
func (f *Server) Conflicts(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = n
}

// Sent is how many bytes of objects were given out.
func (f *Server) Sent() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent
}

// Asked are the requests: method, key, range.
func (f *Server) Asked() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// ServeHTTP handles one request.
func (f *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	f.asked = append(f.asked, r.Method+" "+key+" "+r.Header.Get("Range"))
	q := r.URL.Query()
	id := q.Get("uploadId")
	switch {
	case bucket != "bkt":
		refuse(w, r, http.StatusNotFound, "NoSuchBucket")
	case key == "" && r.Method == http.MethodHead:
	case key == "":
		f.list(w, q)
	case r.Method == http.MethodPost && q.Has("uploads"):
		id = fmt.Sprintf("%09d", len(f.asked))
		f.uploads[id] = &upload{key, metadata(r.Header), map[int][]byte{}}
		fmt.Fprintf(w, `<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>`, id)
	case id != "" && (f.uploads[id] == nil || f.uploads[id].key != key):
		refuse(w, r, http.StatusNotFound, "NoSuchUpload")
	case id != "":
		f.upload(w, r, id, body)
	case r.Method == http.MethodDelete:
		delete(f.objects, key) // one that is not there is as good
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut:
		f.store(w, r, key, stored{body, fmt.Sprintf(`"%x"`, md5.Sum(body)), metadata(r.Header)})
	default:
		f.give(w, r, key)
	}
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code string) {
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, `<Error><Code>%s</Code><Message>no</Message></Error>`, code)
	}
}

// crc is a checksum as S3 writes it.
func crc(data []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)))
}

// store makes an object, if its checksum is right and the key is free where that is demanded.
func (f *Server) store(w http.ResponseWriter, r *http.Request, key string, o stored) bool {
	_, taken := f.objects[key]
	if want := r.Header.Get("X-Amz-Checksum-Crc32"); want != "" && want != crc(o.data) {
		refuse(w, r, http.StatusBadRequest, "BadDigest")
		return false
	}
	if f.busy > 0 && r.Header.Get("If-None-Match") == "*" {
		f.busy--
		refuse(w, r, http.StatusConflict, "ConditionalRequestConflict")
		return false
	}
	if taken && r.Header.Get("If-None-Match") == "*" {
		refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed")
		return false
	}
	f.objects[key] = o
	w.Header().Set("ETag", o.etag)
	return true
}

// give answers HEAD and GET.
func (f *Server) give(w http.ResponseWriter, r *http.Request, key string) {
	o, ok := f.objects[key]
	if !ok {
		refuse(w, r, http.StatusNotFound, "NoSuchKey")
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != o.etag {
		refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	maps.Copy(w.Header(), o.meta)
	w.Header().Set("ETag", o.etag)
	w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
	data := o.data
	var first, last int
	if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n == 2 {
		if first >= len(data) {
			refuse(w, r, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
		last = min(last, len(data)-1)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(data)))
		data = data[first : last+1]
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	if w.Header().Get("Content-Range") != "" {
		w.WriteHeader(http.StatusPartialContent)
	}
	if r.Method == http.MethodGet {
		f.sent += int64(len(data))
		_, _ = w.Write(data)
	}
}

// list answers ListObjectsV2 with the delimiter /.
func (f *Server) list(w http.ResponseWriter, q url.Values) {
	prefix := q.Get("prefix")
	var folders []string
	fmt.Fprint(w, `<ListBucketResult><IsTruncated>false</IsTruncated>`)
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if folder, _, deeper := strings.Cut(rest, "/"); ok && deeper {
			folders = append(folders, prefix+folder+"/")
		} else if ok {
			fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>%d</Size>`, key, len(f.objects[key].data))
			fmt.Fprint(w, `<LastModified>2026-11-21T12:00:00Z</LastModified></Contents>`)
		}
	}
	for _, folder := range slices.Compact(folders) {
		fmt.Fprintf(w, `<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>`, folder)
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}
