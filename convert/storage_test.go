package convert

import "testing"

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, unix, windows string }{
		{"/C:/data/x.csv", "/C:/data/x.csv", "C:/data/x.csv"},
		{`/z:\data\x.csv`, `/z:\data\x.csv`, `z:\data\x.csv`},
		{"/C:/", "/C:/", "C:/"},
		{"/C:", "/C:", "/C:"}, // C: alone would be the working folder of that drive
		{"/data/x.csv", "/data/x.csv", "/data/x.csv"},
		{"/CD:/x", "/CD:/x", "/CD:/x"},
		{"C:/x", "C:/x", "C:/x"},
		{"/", "/", "/"},
	} {
		if got := pathInURL(c.path, "linux"); got != c.unix {
			t.Errorf("%s on Linux: found %s, expected %s", c.path, got, c.unix)
		}
		if got := pathInURL(c.path, "windows"); got != c.windows {
			t.Errorf("%s on Windows: found %s, expected %s", c.path, got, c.windows)
		}
	}
}
