// Package display formats names, numbers and results as text for people and as JSON for programs.
package display
