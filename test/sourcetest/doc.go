// Package sourcetest contains helpers for the tests of several readers.
package sourcetest
