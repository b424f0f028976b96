package publish

// Totals returns how many files were written to the folder, in all its classes, and their bytes; the manifest does not count.
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

// Manifest returns the manifest that Commit wrote; nil before that.
func (d *Folder) Manifest() []byte { return d.manifest }
