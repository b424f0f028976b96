// Package display turns names, numbers and results into text for people and programs.
package display
