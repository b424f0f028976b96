package fake

import (
	"crypto/md5" //nolint:gosec // S3 makes its ETags of it
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// An upload is one in parts that was begun, and neither completed nor aborted.
type upload struct {
	key   string
	meta  http.Header
	parts map[int][]byte // by their numbers
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
	case http.MethodPost:
		f.complete(w, r, id, body)
	}
}

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
		part, tag := u.parts[i+1], strings.Trim(p.ETag, `"`)
		if p.PartNumber != i+1 || tag != fmt.Sprintf("%x", md5.Sum(part)) || p.ChecksumCRC32 != crc(part) {
			refuse(w, r, http.StatusBadRequest, "InvalidPart")
			return
		}
		sum, _ := hex.DecodeString(tag)
		data, sums = append(data, part...), append(sums, sum...)
	}
	if want := r.Header.Get("X-Amz-Mp-Object-Size"); want != "" && want != strconv.Itoa(len(data)) {
		refuse(w, r, http.StatusBadRequest, "InvalidRequest")
		return
	}
	if f.store(w, r, u.key, stored{data, fmt.Sprintf(`"%x-%d"`, md5.Sum(sums), len(list.Part)), u.meta}) {
		delete(f.uploads, id)
		fmt.Fprint(w, `<CompleteMultipartUploadResult><Bucket>bkt</Bucket></CompleteMultipartUploadResult>`)
	}
}
