// Package text writes names, numbers and results for people, JSON for programs, and words of
// command lines that can be pasted into a shell. It knows the names that every system can store.
package text
