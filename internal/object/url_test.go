package object

import (
	"errors"
	"strings"
	"testing"

	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/test/must"
)

func TestParseArg(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, want string }{
		{"s3://bkt/train-images-idx3-ubyte.gz", "s3://bkt/train-images-idx3-ubyte.gz"},
		{"s3://bkt/k?endpoint=http://127.0.0.1:7070&region=eu&use_path_style=true", "s3://bkt/k"},
		{"image=s3://bkc/k?region=eu", "image=s3://bkc/k"},
		{"parquet=s3://bkd/out/?stall=5s", "parquet=s3://bkd/out/"},
		{"s3://bke/a=b", "s3://bke/a=b"},
		{"s3://bkf/100%25#x y", "s3://bkf/100%25#x y"}, // as it is
		{"train-images", "train-images"},
		{"./s3://bkt/k?x=y", "./s3://bkt/k?x=y"},
		{"a/b=s3://bkt/k?x=y", "a/b=s3://bkt/k?x=y"},
		{"https://example.org/x?y", "https://example.org/x"},
		{"image=http://127.0.0.1:80/a=b/x%20y?sig=1&b#c", "image=http://127.0.0.1:80/a=b/x%20y"},
		{"./https://example.org/x?y", "./https://example.org/x?y"},
	} {
		var s Store
		if got, err := s.ParseArg(c.arg); err != nil || got != c.want {
			t.Errorf("%s: found %q, %v, expected %q", c.arg, got, err, c.want)
		}
	}
}

// secret represents everything that must not be shown.
const secret = "hunter2"

func TestParseArgRefuses(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{
		"s3://", "s3:///key", "s3://user:" + secret + "@b/k",
		"s3://bkt/k?endpoint=http%3A%2F%2Fx&access_key=" + secret, "s3://bkt/k?X-Amz-Signature=" + secret,
		"s3://bkt/k?%zz" + secret, "s3://bkt/k?" + secret + "=1", "s3://bkt/k?region=a&region=b",
		"s3://bkt/../k", "s3://bkt/k\n", "file:///x", "s3://b/k", "s3:/bkt/k", "image=s3:/bkt/k",
		"gs://bkt/k", "azblob://bkt/k", "https://user:" + secret + "@example.org/x",
		"https://user:" + secret + "?@example.org/x", "https://user@example.org/x",
		"https://user:" + secret + "/@example.org/x", "https://", "https:///x", "https://:80/x",
		"https://example.org", "https://example.org/", "https://example.org/mnist/",
		"https://example.org/?x=" + secret, "https://example.org/x#y", "https://example.org/%zz",
		"https://example.org/../x", "https://exa mple.org/x", "https://example.org/x\n",
	} {
		var s Store
		_, err := s.ParseArg(arg)
		if !errors.Is(err, fault.Usage) {
			t.Errorf("%q: found %v, expected fault.Usage", arg, err)
		} else if strings.Contains(err.Error(), secret) && !strings.Contains(arg, "?"+secret) {
			t.Errorf("%q: the message shows it: %v", arg, err)
		}
	}
	var s Store
	must.Get(s.ParseArg("https://example.org/x?id=1"))(t)
	must.Get(s.ParseArg("https://example.org/x?id=1#fragment"))(t)
	must.Get(s.ParseArg("https://example.org/y?id=2"))(t)
	for _, arg := range []string{"https://example.org/x?id=" + secret, "https://example.org/x"} {
		_, err := s.ParseArg(arg)
		refuses(t, arg, err, fault.Usage, "", "")
	}
	must.Get(s.ParseArg("s3://bkt/k?region=a"))(t)
	must.Get(s.ParseArg("s3://bkt/other"))(t) // the same region
	_, err := s.ParseArg("s3://bkt/other?region=b")
	refuses(t, "one bucket in two regions", err, fault.Usage, "", "")
}
