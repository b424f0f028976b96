package input

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/idxport/idxport/internal/dataset"
	"github.com/idxport/idxport/internal/fault"
	"github.com/idxport/idxport/internal/sources"
	"github.com/idxport/idxport/test/must"
)

// TestListIsReadOnce: a list of class names is read once, however often its labels are opened.
func TestListIsReadOnce(t *testing.T) {
	t.Parallel()
	dir, in := t.TempDir(), &Set{Options: Options{Storage: new(Storage)}, lists: new(sync.Map)}
	list, labels := filepath.Join(dir, "a-classes.txt"), filepath.Join(dir, "a-labels-idx1-ubyte")
	must.Do(t, os.WriteFile(list, []byte("cat\ndog\n"), 0o666))
	for range 2 {
		file := dataset.File{Path: labels, Role: dataset.Label}
		if names, _, err := in.namesBeside(t.Context(), file, "", nil); len(names) != 2 {
			t.Errorf("found %q, %v, expected two names", names, err)
		}
		_ = os.Remove(list)
	}
}

// TestSplitsInside: the names of arrays give splits and columns.
func TestSplitsInside(t *testing.T) {
	t.Parallel()
	for arrays, want := range map[string]string{ // of each split, the column, its role and array; or part of the error
		"y_train x_test":             "train: label label y_train; test: image image x_test; ",
		"train_labels val_images":    "train: label label train_labels; val: image image val_images; ",
		"weight_train train_ids b":   "train: weight data weight_train, ids data train_ids; mnist: b data b; ",
		"valdata val_labels":         "val: data data valdata, label label val_labels; ",
		"x_train dev_x a_dev_b":      "train: image image x_train; dev: image image dev_x, a_b data a_dev_b; ",
		"valid_x y_valid":            "valid: image image valid_x, label label y_valid; ",
		"images labels valid_mask":   "mnist: image image images, label label labels, valid_mask data valid_mask; ",
		"val_x val_y train":          "val: image image val_x, label label val_y; train: data data train; ",
		"label_set labels images":    "mnist: label_set data label_set, label label labels, image image images; ",
		"x y":                        "mnist: x data x, y data y; ",
		"arr_0 arr_1":                "mnist: arr_0 data arr_0, arr_1 data arr_1; ",
		"x_extra training_set":       "mnist: x_extra data x_extra; train: set data training_set; ",
		"../../etc/x_train /y_train": "train: image image ../../etc/x_train, label label /y_train; ",
		"images_and_labels":          "mnist: images_and_labels data images_and_labels; ",
		"train/images train/y val/x": "train: image image train/images, y data train/y; val: x data val/x; ",
		"images/test labels/test":    "test: image image images/test, label label labels/test; ",
		"a/images b/images":          "found two arrays for the column image: a/images and b/images",
		"x_train train_images":       "found two arrays for the column image: x_train and train_images",
	} {
		splits, err := splitsInside(sources.Table{Path: "mnist.npz", Arrays: strings.Fields(arrays)},
			dataset.Split{Stem: "mnist", Files: []dataset.File{{Path: "mnist.npz"}}})
		found := ""
		for _, s := range splits {
			var columns []string
			for _, f := range s.Files {
				columns = append(columns, fmt.Sprint(f.Name, " ", f.Role, " ", f.Array))
			}
			found += s.Stem + ": " + strings.Join(columns, ", ") + "; "
		}
		if err != nil && fault.HintOf(err) != "" {
			found = err.Error()
		}
		if !strings.Contains(found, want) {
			t.Errorf("%s: found %s, expected %s", arrays, found, want)
		}
	}
}
