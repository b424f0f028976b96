package formats

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/test/must"
)

// archive writes a .npz file of arrays without content.
func archive(t *testing.T, path string, arrays ...string) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	z := zip.NewWriter(f)
	for _, name := range arrays {
		must.Get(z.Create(name + ".npy"))(t)
	}
	must.Do(t, errors.Join(z.Close(), f.Close()))
}

// TestFindArrays: the names of arrays give splits and columns.
func TestFindArrays(t *testing.T) {
	t.Parallel()
	for arrays, want := range map[string]string{ // columns of splits, or part of the error
		"x_test x_train y_train y_test":                   "test.image=x_test train.image=x_train train.label=y_train test.label=y_test",
		"train_labels train_images val_images val_labels": "train.image=train_images val.image=val_images train.label=train_labels val.label=val_labels",
		"images labels": "image=images label=labels",
		"X_train y_train weight_train train_ids label_names": "train.image=X_train train.label=y_train train.weight=weight_train train.ids=train_ids label_names=label_names",
		"b a":                        "b=b a=a",
		"x y":                        "x=x y=y",
		"arr_0":                      "",
		"arr_0 arr_1":                "arr_0=arr_0 arr_1=arr_1",
		"data":                       "data=data",
		"x_extra extra_images":       "x_extra=x_extra extra_images=extra_images",
		"../../etc/x_train /y_train": "train.image=../../etc/x_train train.label=/y_train",
		"images_and_labels":          "images_and_labels=images_and_labels",
		"train":                      "train.train=train",
		"x_train train_images":       "found two arrays for the column image: x_train and train_images",
		"":                           "expected 1 to 1000",
	} {
		path := filepath.Join(t.TempDir(), "mnist.npz")
		archive(t, path, strings.Fields(arrays)...)
		for _, at := range []string{path, filepath.Dir(path)} {
			tables, err := Find(source.Local{}, at)
			found := fmt.Sprint(err)
			if err == nil && len(tables) == 1 {
				columns := []string{}
				for _, array := range tables[0].Arrays() {
					columns = append(columns, strings.TrimPrefix(array.Split+".", ".")+array.Column+"="+array.Name)
				}
				found = strings.Join(columns, " ")
			}
			if err == nil && found != want || !strings.Contains(found, want) || err != nil && fault.KindOf(err) == fault.Internal {
				t.Errorf("%s: found %s, expected %s", arrays, found, want)
			}
		}
	}
}

// TestArchivesInFolders: parts cannot be archives.
func TestArchivesInFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	archive(t, filepath.Join(dir, "part-0.npz"), "x")
	archive(t, filepath.Join(dir, "part-1.npz"), "x")
	tables := must.Get(Find(source.Local{}, dir))(t)
	if _, err := tables[0].Open(source.ReadOptions{}); !errors.Is(err, fault.Usage) {
		t.Errorf("found %v, expected %v", err, fault.Usage)
	}
}
