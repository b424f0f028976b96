package parquet

import "github.com/parquet-go/parquet-go/format"

// A part is what Read got of a leaf for a batch.
type part struct {
	dst  []byte // the elements of leaves that have some, where pages were decoded by Read
	jobs []job
	kept []byte // bodies of the pages that Decode decompresses

	files []byte // values of BYTE_ARRAY leaves, where pages were decoded by Read
	spans []span
}

// A job is a page that is left to Decode.
type job struct {
	page     page
	row      int // of the batch
	from, to int // its body within kept
}

// A span is where the value of a row is within files.
type span struct{ row, from, to int }

func (p *part) reset() {
	p.jobs, p.kept, p.files, p.spans = p.jobs[:0], p.kept[:0], p.files[:0], p.spans[:0]
}

// job decodes a page that was left to Decode: into dst, or by giving each value to take. first is the index of the batch's first row.
func (l *leaf) job(j *job, p *part, first int64, scratch *[]byte, take func(row int, value []byte) error) (err error) {
	defer func() { err = located(err, l.path, first+int64(j.row), j.page.offset) }()
	defer recovered(&err)
	buf := *scratch
	body := p.kept[j.from:j.to]
	c, memory, err := l.open(&j.page, body, buf)
	if l.codec(&j.page) != format.Uncompressed {
		*scratch = memory
	}
	if err != nil {
		return err
	}
	n := j.page.entries
	if err := l.check(c, 0, n, first+int64(j.row)); err != nil || l.values(n) == 0 {
		return err
	}
	if !l.raw() {
		from := j.row * l.entries * l.element.size
		return l.misfit(c.fixed.read(p.dst[from:from+n*l.element.size]), 0, first+int64(j.row))
	}
	for i := range n {
		value, err := c.bytes.next()
		if err != nil {
			return err
		}
		if err := take(j.row+i, value); err != nil {
			return err
		}
	}
	return nil
}
