package fake

import (
	"cmp"
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// An upload is one in parts that was begun, and neither completed nor aborted.
type upload struct {
	key   string
	parts map[int][]byte // by their numbers
}

// Uploads are the keys of the uploads in parts that are not ended, in order.
func (f *Server) Uploads() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys []string
	for _, u := range f.uploads {
		keys = append(keys, u.key)
	}
	slices.Sort(keys)
	return keys
}

// Abort ends all uploads in parts, as a lifecycle rule does.
func (f *Server) Abort() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.uploads)
}

// upload handles the requests of an upload in parts that is there.
func (f *Server) upload(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	u := f.uploads[id]
	switch r.Method {
	case http.MethodPut:
		if want := r.Header.Get("X-Amz-Checksum-Crc32"); want == "" || want != crc(body) {
			refuse(w, r, http.StatusBadRequest, "BadDigest")
			return
		}
		number, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		u.parts[number] = body
		w.Header().Set("X-Amz-Checksum-Crc32", crc(body))
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, md5.Sum(body)))
	case http.MethodDelete:
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodGet:
		f.listParts(w, r.URL.Query(), u)
	case http.MethodPost:
		f.complete(w, r, id, body)
	}
}

// completed is the answer to CompleteMultipartUpload.
const completed = `<CompleteMultipartUploadResult><Bucket>bkt</Bucket></CompleteMultipartUploadResult>`

// complete answers CompleteMultipartUpload: after it there is no such upload.
func (f *Server) complete(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	var list struct {
		Part []struct {
			PartNumber          int
			ETag, ChecksumCRC32 string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil || len(list.Part) == 0 {
		refuse(w, r, http.StatusBadRequest, "MalformedXML")
		return
	}
	u := f.uploads[id]
	var data, sums []byte
	for i, p := range list.Part {
		if p.PartNumber != i+1 || strings.Trim(p.ETag, `"`) != fmt.Sprintf("%x", md5.Sum(u.parts[i+1])) || p.ChecksumCRC32 != crc(u.parts[i+1]) {
			refuse(w, r, http.StatusBadRequest, "InvalidPart")
			return
		}
		sum, _ := hex.DecodeString(strings.Trim(p.ETag, `"`))
		data, sums = append(data, u.parts[i+1]...), append(sums, sum...)
	}
	if want := r.Header.Get("X-Amz-Mp-Object-Size"); want != "" && want != strconv.Itoa(len(data)) {
		refuse(w, r, http.StatusBadRequest, "InvalidRequest")
		return
	}
	if f.store(w, r, u.key, data, fmt.Sprintf(`"%x-%d"`, md5.Sum(sums), len(list.Part))) {
		delete(f.uploads, id)
		f.ended = append(f.ended, id)
		fmt.Fprint(w, completed)
	}
}

// page is how many entries a page has.
func (f *Server) page() int { return cmp.Or(f.Page, 1000) }

// listParts answers ListParts.
func (f *Server) listParts(w http.ResponseWriter, q url.Values, u *upload) {
	after, _ := strconv.Atoi(q.Get("part-number-marker"))
	numbers := slices.DeleteFunc(slices.Sorted(maps.Keys(u.parts)), func(n int) bool { return n <= after })
	cutOff := len(numbers) > f.page()
	numbers = numbers[:min(len(numbers), f.page())]
	fmt.Fprintf(w, `<ListPartsResult><IsTruncated>%v</IsTruncated>`, cutOff)
	if cutOff {
		fmt.Fprintf(w, `<NextPartNumberMarker>%d</NextPartNumberMarker>`, numbers[len(numbers)-1])
	}
	for _, n := range numbers {
		part := u.parts[n]
		fmt.Fprintf(w, `<Part><PartNumber>%d</PartNumber><ETag>&quot;%x&quot;</ETag><Size>%d</Size><ChecksumCRC32>%s</ChecksumCRC32></Part>`,
			n, md5.Sum(part), len(part), crc(part))
	}
	fmt.Fprint(w, `</ListPartsResult>`)
}

// listUploads answers ListMultipartUploads with the first page, by key, and those of one key by id.
func (f *Server) listUploads(w http.ResponseWriter, q url.Values) {
	type entry struct{ key, id string }
	var all []entry
	for id, u := range f.uploads {
		behind := cmp.Or(strings.Compare(u.key, q.Get("key-marker")), strings.Compare(id, q.Get("upload-id-marker"))) > 0
		if behind && strings.HasPrefix(u.key, q.Get("prefix")) {
			all = append(all, entry{u.key, id})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.id, b.id)) })
	page := all[:min(len(all), f.page())]
	fmt.Fprintf(w, `<ListMultipartUploadsResult><IsTruncated>%v</IsTruncated>`, len(all) > len(page))
	if len(all) > len(page) {
		fmt.Fprintf(w, `<NextKeyMarker>%s</NextKeyMarker><NextUploadIdMarker>%s</NextUploadIdMarker>`, page[len(page)-1].key, page[len(page)-1].id)
	}
	for _, e := range page {
		fmt.Fprintf(w, `<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>`, e.key, e.id)
	}
	fmt.Fprint(w, `</ListMultipartUploadsResult>`)
}
