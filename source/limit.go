package source

// A Limiter is a table that can use to know that no rows from row n on will be read: files that are fetched in advance are fetched no further.
type Limiter interface {
	Limit(n int64)
}

// Limit tells t that its rows from n on will not be read, if it is a Limiter.
func Limit(t Table, n int64) {
	if l, ok := t.(Limiter); ok {
		l.Limit(n)
	}
}

// Limit tells the file, if it can use that, where the record n would begin, or the frame after the one that holds the record before.
func (t *IDX) Limit(n int64) {
	t.last = n
	end := t.offset(n)
	if t.frames != nil {
		end = t.frames.limit(end)
	}
	if f, ok := t.file.(interface{ Limit(end int64) }); ok && t.stream == nil {
		f.Limit(end)
	}
}

// offset is where the record n begins in the decompressed file.
func (t *IDX) offset(n int64) int64 { return t.reader.Claim().Size() + n*int64(t.column.RecordSize()) }

func (j *joined) Limit(n int64) {
	for _, t := range j.tables {
		Limit(t, n)
	}
}
