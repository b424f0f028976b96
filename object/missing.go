//go:build !lean && !(gs && azblob)

package object

// missing is the failure of a storage that is left out of this build for its size.
func missing(tag string) error {
	return &failure{kind: ErrBuild, text: "this build has S3 but not " + tag, hint: "build the program with -tags " + tag}
}
