package main

import (
	"errors"
	"io/fs"

	"github.com/idxport/idxport/object"
	"github.com/idxport/idxport/sink/publish"
	"github.com/idxport/idxport/source"
	"github.com/idxport/idxport/source/dataset"
	"github.com/idxport/idxport/source/idx"
)

// codeNames are the kinds of errors in the JSON report, by exit code.
var codeNames = map[int]string{
	exitDiffers: "differs", exitUsage: "usage", exitData: "bad_data", exitNoInput: "no_input", exitInternal: "internal", exitCannotMake: "cannot_create",
	exitIO: "io", exitLocked: "locked", exitPermission: "permission",
}

// describeError is err as the JSON report has it.
func describeError(err error) *errorReport {
	code := exitCode(err)
	e := &errorReport{Message: oneLine(err.Error()), Hint: hintOf(err), Exit: code, Code: codeNames[code]}
	if e.Code == "" {
		e.Code = "interrupted"
	}
	var (
		path      *fs.PathError
		file      *source.FileError
		out       *publish.Error
		data      *dataset.Error
		content   *idx.Error
		elsewhere *object.Error
	)
	switch {
	case errors.As(err, &out):
		e.Path = out.Path
	case errors.As(err, &data) && len(data.Paths) > 0:
		e.Path = data.Paths[0]
	case errors.As(err, &file):
		e.Path = file.Path
	case errors.As(err, &path):
		e.Path = path.Path
	case errors.As(err, &elsewhere):
		e.Path = elsewhere.URL
	}
	if errors.As(err, &content) {
		e.Offset = &content.Offset
	}
	return e
}
