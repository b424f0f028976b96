package publish

// Totals returns how many files were written to the folder, in all its classes, and their bytes; the mark does not count, nor a
// stream that is not closed.
func (d *Folder) Totals() (files, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.open {
		c.mu.Lock()
		files, bytes = files+c.tally.files, bytes+c.tally.bytes
		c.mu.Unlock()
	}
	return files, bytes
}

// Sealed returns the folder's mark as Commit wrote it, the names of the parts for PartsMark; nil before that.
func (d *Folder) Sealed() []byte { return d.sealed }
