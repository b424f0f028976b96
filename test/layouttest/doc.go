// Package layouttest has what the tests of the sinks that use layouts share: small tables, and ways to write them.
package layouttest
