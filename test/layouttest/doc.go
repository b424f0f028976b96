// Package layouttest contains small tables, and functions that write them, for the tests of the
// sinks that use layouts.
package layouttest
