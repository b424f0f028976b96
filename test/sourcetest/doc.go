// Package sourcetest has what tests of several readers need.
package sourcetest
