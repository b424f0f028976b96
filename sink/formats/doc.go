// Package formats is the table of the output formats: what each is called, how its files end, and how its sink is made.
//
// A format is a row of the table. Nothing registers itself, and nothing outside this package lists formats.
package formats
