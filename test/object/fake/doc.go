// Package fake is a server that does as much of S3 as the program uses, after the S3 API reference,
// in memory: for tests that must not need a real one.
package fake
