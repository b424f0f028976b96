package publish

import (
	"reflect"
	"testing"
)

// FuzzManifest reads manifests that anybody may have put into a folder. What is taken for one of ours says the same when it is written again.
func FuzzManifest(f *testing.F) {
	const zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	whole := `{"format":"idxport-folder","version":2,"files":1,"bytes":3,"content":"` + zeros + `","classes":{".":{"files":1,"names":"` + zeros + `"}}}`
	f.Add([]byte(whole))
	f.Add([]byte("# card\n" + cardBegin + whole + cardEnd))
	f.Add([]byte(`{"format":"idxport-folder","version":2,"files":-1,"classes":{"../x":{}}}`))
	f.Add([]byte(`[[[[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = CardMark.manifestIn(text) // it must not panic
		made, err := ManifestMark.manifestIn(text)
		if err != nil {
			return
		}
		again, err := ManifestMark.manifestIn(ManifestMark.text(made, nil))
		if err != nil || !reflect.DeepEqual(again, made) {
			t.Errorf("found %+v, then %+v, %v", made, again, err)
		}
	})
}
