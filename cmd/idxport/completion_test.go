package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// ask runs the command that completion scripts run: the values that it prints, and whether paths
// are wanted too.
func ask(t *testing.T, word string, before ...string) (values []string, paths bool) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(append([]string{"idxport", "__complete", "word=" + word}, before...), strings.NewReader(""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, stderr.String())
	}
	for line := range strings.Lines(stdout.String()) {
		value, _, described := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if value == "" {
			paths = true
		} else if values = append(values, value); !described || strings.ContainsAny(value, " '\"$`\\") {
			t.Errorf("found the line %q, expected a value that needs no quotes, and a tab", line)
		}
	}
	return values, paths
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before string // words between idxport and the cursor
		word   string // at the cursor
		want   string
		paths  bool
	}{
		{"", "co", "convert completion", false},
		{"", "--", "--help --version", false},
		{"help", "in", "inspect", false},
		{"frobnicate", "", "", false},
		{"--quiet", "ver", "verify version", false},

		{"convert", "", "", true},
		{"convert x", "--ro", "--rows-per-file --rows", false},
		{"convert -- x", "--ro", "", true},
		{"convert -o --", "--ro", "--rows-per-file --rows", false}, // -- is the value of -o
		{"convert -", "--hel", "--help", false},
		{"convert x --quiet", "a", "", true},
		{"commit", "", "", false},
		{"formats", "", "", false},
		{"datasets", "k", "kmnist kannada-mnist", false},
		{"datasets mnist", "", "", false},
		{"completion", "", "bash zsh fish pwsh", false},

		{"convert x --to", "", "parquet arrow arrows csv tsv png tar npy idx", false},
		{"convert x --to", "parquet,arrow,a", "parquet,arrow,arrows", false},
		{"convert x", "--to=parquet,t", "--to=parquet,tsv --to=parquet,tar", false},
		{"convert x --to", "\x1b[2J\nx,p", "", false}, // nothing of it may be printed
		{"convert x -o", "p", "parquet= png=", true},
		{"convert x --output", "csv=a", "", true},
		{"convert x", "--output=np", "--output=npy=", true},
		{"convert x", "-o=np", "-o=npy=", true},
		{"convert x -o", "s3://p", "", false},
		{"convert x -o", "csv=s3://p", "", false},
		{"preview x -o", "p", "", true},
		{"convert x --compression", "z", "zstd", false},
		{"convert x --compression", "parquet", "parquet=", false},
		{"convert x --compression", "arrow=", "arrow=none arrow=lz4 arrow=zstd", false},
		{"convert x --compression", "csv=", "csv=none csv=gzip csv=zstd", false},
		{"convert x --compression", "png=", "", false},
		{"convert x --layout", "", "binary columns fixed-binary huggingface kaggle kaggle1 labels list matrix names nested pjreddie rowxcol tensor " +
			"parquet= arrow= arrows= csv= tsv= png=", false},
		{"convert x", "--layout=arrow=fix", "--layout=arrow=fixed-binary", false},
		{"convert x --layout", "csv=", "csv=kaggle csv=kaggle1 csv=rowxcol csv=pjreddie csv=matrix", false},
		{"convert x --dataset", "n", "none", false},
		{"convert x --dataset", "q", "qmnist", false},
		{"convert x --dtype", "", "uint8 int8 int16 int32 float32 float64", false},
		{"convert x --header", "y", "yes", false},
		{"convert x", "--header=n", "--header=no", false},
		{"convert x", "--transpose=", "--transpose=true --transpose=false", false},
		{"convert x", "--frobnicate=", "", false},
		{"convert x --rows", "", "", false},
		{"convert x --classes", "", "", true},
		{"convert x", "--classes=", "", true},
	} {
		values, paths := ask(t, c.word, strings.Fields(c.before)...)
		if got := strings.Join(values, " "); got != c.want || paths != c.paths {
			t.Errorf("%s|%s: found %q, paths %t, expected %q, %t", c.before, c.word, got, paths, c.want, c.paths)
		}
	}
}

// TestCompletionOfAll demands that every command and every flag is completed, whatever is added.
func TestCompletionOfAll(t *testing.T) {
	t.Parallel()
	listed, _ := ask(t, "")
	for _, c := range commands() {
		if !slices.Contains(listed, c.name) {
			t.Errorf("the command %s is not completed", c.name)
		}
		flags, _ := ask(t, "-", c.name)
		for _, f := range flagsOf(c.name) {
			for _, name := range f.spellings() {
				if !slices.Contains(flags, name) {
					t.Errorf("the flag %s of %s is not completed", name, c.name)
				}
			}
		}
	}
	var stdout bytes.Buffer
	if code := run([]string{"idxport", "__complete"}, nil, &stdout, nil); code != 0 || stdout.Len() > 0 {
		t.Errorf("without a word: exit code %d, %q", code, stdout.String())
	}
}
