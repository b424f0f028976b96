package object

import (
	"errors"
	"strings"
	"testing"
)

func TestTake(t *testing.T) {
	t.Parallel()
	cases := []struct{ arg, want string }{
		{"s3://b/train-images-idx3-ubyte.gz", "s3://b/train-images-idx3-ubyte.gz"},
		{"s3://b/k?endpoint=http://127.0.0.1:7070&region=eu&use_path_style=true", "s3://b/k"},
		{"image=s3://c/k?region=eu", "image=s3://c/k"},
		{"parquet=s3://d/out/?stall=5s", "parquet=s3://d/out/"},
		{"s3://e/a=b", "s3://e/a=b"},
		{"s3://f/100%25#x y", "s3://f/100%25#x y"}, // as it is
		{"file:///tmp/x", "file:///tmp/x"},
		{"azblob://c/k?storage_account=a", "azblob://c/k"},
		{"train-images", "train-images"},
		{"./s3://b/k?x=y", "./s3://b/k?x=y"},
		{"a/b=s3://b/k?x=y", "a/b=s3://b/k?x=y"},
		{"https://example.org/x?y", "https://example.org/x?y"},
	}
	for _, c := range cases {
		var s Store
		if got, err := s.Take(c.arg); err != nil || got != c.want {
			t.Errorf("%s: found %q, %v, expected %q", c.arg, got, err, c.want)
		}
	}
}

// secret stands for what must not be shown.
const secret = "hunter2"

func TestTakeRefuses(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{
		"s3://", "s3:///key", "s3://user:" + secret + "@b/k", "s3://b/k?endpoint=http%3A%2F%2Fx&access_key=" + secret, "s3://b/k?X-Amz-Signature=" + secret,
		"s3://b/k?%zz" + secret, "s3://b/k?" + secret + "=1", "s3://b/k?region=a&region=b", "s3://b/../k", "s3://b/k\n", "file://host/x", "file://", "gs://b/k?endpoint=x",
	} {
		var s Store
		_, err := s.Take(arg)
		if !errors.Is(err, ErrURL) {
			t.Errorf("%q: found %v, expected ErrURL", arg, err)
		} else if strings.Contains(err.Error(), secret) && !strings.Contains(arg, "?"+secret) {
			t.Errorf("%q: the message shows it: %v", arg, err)
		}
	}
	var s Store
	if _, err := s.Take("s3://b/k?region=a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take("s3://b/other"); err != nil {
		t.Errorf("a URL without parameters beside one with some: %v", err)
	}
	if _, err := s.Take("s3://b/k?region=b"); !errors.Is(err, ErrURL) {
		t.Errorf("one bucket in two regions: %v", err)
	}
}

func TestIsURL(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"s3://b/k": true, "gs://b": true, "azblob://c/k": true, "file:///x": true, "s3:/b": false, "S3://b": false, "http://x": false, "x": false, "": false} {
		if IsURL(name) != want {
			t.Errorf("%q: found %v", name, !want)
		}
	}
}
