// Package shell writes paths and values so that a command with them in it can be pasted into a
// shell.
package shell
