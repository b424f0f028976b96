// Package fake is an S3 server in memory, for tests without a real one. It implements the part of
// the S3 API reference that the program uses.
package fake
