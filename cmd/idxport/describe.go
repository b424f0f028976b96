package main

import (
	"cmp"
	"errors"
	"io/fs"
	"reflect"
	"unicode/utf8"

	"github.com/idxport/idxport/display"
	"github.com/idxport/idxport/fault"
)

// codeNames are the kinds of errors in the JSON report, by exit code.
var codeNames = map[int]string{
	exitDiffers: "differs", exitUsage: "usage", exitData: "bad_data", exitNoInput: "no_input", exitInternal: "internal", exitCannotMake: "cannot_create",
	exitIO: "io", exitLocked: "locked", exitPermission: "permission",
}

// describeError is err as the JSON report has it.
func describeError(err error) *errorReport {
	code := exitCode(err)
	e := &errorReport{Message: display.Printable(err.Error()), Hint: display.Printable(fault.HintOf(err)), Exit: code, Code: codeNames[code]}
	if e.Code == "" {
		e.Code = "interrupted"
	}
	for f := range fault.All(err) {
		e.Path = cmp.Or(e.Path, f.Path)
		if e.Offset == nil && f.Offset >= 0 {
			e.Offset = &f.Offset
		}
	}
	if path := (*fs.PathError)(nil); e.Path == "" && errors.As(err, &path) {
		e.Path = path.Path
	}
	return e
}

// makeLegible makes all text in v legible, and reports whether some was not.
func makeLegible(v reflect.Value) (changed bool) {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && makeLegible(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			changed = makeLegible(v.Index(i)) || changed
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				changed = makeLegible(v.Field(i)) || changed
			}
		}
	case reflect.String:
		if changed = !utf8.ValidString(v.String()); changed {
			v.SetString(display.Legible(v.String()))
		}
	}
	return changed
}
