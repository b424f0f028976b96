package source

import "context"

// wrapped is a table made of another one. It forwards every method of a table, the optional ones too, so that a wrapper embeds it and overrides only
// what it changes. An optional interface of tables that is added later is forwarded here, once.
type wrapped struct{ Table }

func (w wrapped) Skip(n int64) error      { return Skip(w.Table, n) }
func (w wrapped) Limit(n int64)           { Limit(w.Table, n) }
func (w wrapped) Notes() []string         { return Notes(w.Table) }
func (w wrapped) Meta() map[string]string { return Meta(w.Table) }
func (w wrapped) Omitted() []Omission     { return Omitted(w.Table) }
func (w wrapped) SourceRows() int64       { return SourceRows(w.Table) }

// readPart reads the next rows of the other table into the first part of b, for a wrapper whose columns are made of its.
func (w wrapped) readPart(ctx context.Context, b *Raw) error {
	p := b.Part(0)
	err := w.Table.Read(ctx, p)
	b.First, b.Rows = p.First, p.Rows
	return err
}
