package schema

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/idxport/idxport/internal/text"
)

func TestFolderNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	for name, tt := range map[string]struct{ classes, want []string }{
		"Fashion-MNIST": {[]string{"T-shirt/top", "Trouser", "Ankle boot"},
			[]string{"T-shirt_top", "Trouser", "Ankle_boot"}},
		"case":                   {[]string{"A", "b", "a", "B", "c"}, []string{"A-0", "b-1", "a-2", "B-3", "c"}},
		"classes without a name": {[]string{"", "a", ""}, []string{"", "a", ""}},
		"nothing left":           {[]string{"…", "😀", "..", "/"}, []string{"class-0", "class-1", "class-2", "class-3"}},
		"one left":               {[]string{"😀 a"}, []string{"a"}},
		"every script": {[]string{"零", "お き", "Zürich", "naïve", "हिन्दी", "٣", "ёлка/ель"},
			[]string{"零", "お_き", "Zürich", "naïve", "हिन्दी", "٣", "ёлка_ель"}},
		"one form":              {[]string{"cafe\u0301", "pâte", "pâté"}, []string{"caf\u00e9", "pâte", "pâté"}},
		"the same in two forms": {[]string{"cafe\u0301", "caf\u00e9"}, []string{"caf\u00e9-0", "caf\u00e9-1"}},
		"case in every script": {[]string{"Straße", "STRASSE", "Ёлка", "ёлка", "Σας", "σαΣ", "ᾳ", "ΑΙ", "ꭰ", "Ꭰ"},
			[]string{"Straße-0", "STRASSE-1", "Ёлка-2", "ёлка-3", "Σας-4", "σαΣ-5", "ᾳ-6", "ΑΙ-7", "ꭰ-8", "Ꭰ-9"}},
		"compatible forms":    {[]string{"ｆｏｏ", "foo", "x\ufe0f", "x"}, []string{"ｆｏｏ-0", "foo-1", "x\ufe0f-2", "x-3"}},
		"cut between letters": {[]string{strings.Repeat("零", 27)}, []string{strings.Repeat("零", 26)}},
		"not UTF-8":           {[]string{"a\xffb"}, []string{"a_b"}},
		"edges": {[]string{".hidden", "-rf", "_x_", "end.", "../up", "a  b"},
			[]string{"hidden", "rf", "x", "end", "up", "a_b"}},
		"devices": {[]string{"CON", "nul", "Com1", "LPT9", "com", "com10", "aux.txt"},
			[]string{"CON-0", "nul-1", "Com1-2", "LPT9-3", "com", "com10", "aux_txt"}},
		"same":                        {[]string{"x", "x", "y"}, []string{"x-0", "x-1", "y"}},
		"same once mapped":            {[]string{"a/b", "a b"}, []string{"a_b-0", "a_b-1"}},
		"a name that ends in a label": {[]string{"a", "A", "a-0"}, []string{"a-0", "A-1", "a-0-2"}},
		"class named like a number":   {[]string{"…", "class-0"}, []string{"class-0", "class-0-1"}},
		"long": {[]string{long, long + "y", "z"},
			[]string{long[:80] + "-0", long[:80] + "-1", "z"}},
		"cut at an underscore": {[]string{long[:79] + " b"}, []string{long[:79]}},
	} {
		if got := FolderNames(tt.classes); !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %q, expected %q", name, got, tt.want)
		}
	}
}

// FuzzFolderNames checks the properties that package publish and every system rely on, for any
// names.
func FuzzFolderNames(f *testing.F) {
	f.Add("a,A,a-0,a-0-2")
	f.Add("con,お,.,class-1,ﬀ,ff,İ,i̇")
	f.Add("x_,x-,_x,X-1,x-1-1,")
	f.Fuzz(func(t *testing.T, joined string) {
		classes := strings.Split(joined, ",")
		folders := FolderNames(classes)
		seen := map[string]bool{}
		for label, name := range folders {
			if (name == "") != (classes[label] == "") {
				t.Errorf("class %q: found the folder %q", classes[label], name)
			}
			if name == "" {
				continue
			}
			if seen[foldName(name)] {
				t.Errorf("found the folder %q twice, without regard to case", name)
			}
			seen[foldName(name)] = true
			letter := name[0] != '-' && name[0] != '_'
			plain := !strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) })
			if !letter || !norm.NFC.IsNormalString(name) || len(name) > 100 || !text.Storable(name) || !plain {
				t.Errorf("class %q: found the folder %q, expected a plain name", classes[label], name)
			}
		}
	})
}
