// Package gateway installs and runs versitygw, a real S3 server, on this machine, for tests that
// need one. The server is installed by the go command into a folder outside of any module, at one
// version; it is no dependency of the program. It keeps objects as files.
package gateway
