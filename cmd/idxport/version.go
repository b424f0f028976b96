package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"

	"github.com/idxport/idxport/convert"
)

// commit is the commit that the program was built at, as the build recorded it: " (commit 0123456789ab)", or with "+changes"
// where files differed from it; empty if it was built outside a checkout.
func commit() string {
	info, _ := debug.ReadBuildInfo() // nil: built without modules
	settings := map[string]string{}
	if info != nil {
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	revision := settings["vcs.revision"]
	if len(revision) < 12 {
		return ""
	}
	if settings["vcs.modified"] == "true" {
		return fmt.Sprintf(" (commit %s+changes)", revision[:12])
	}
	return fmt.Sprintf(" (commit %s)", revision[:12])
}

// versionCommand is `idxport version`.
func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:            "version",
		Usage:           "print the version, and the commit that it was built at",
		UsageText:       "idxport version",
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.stdout, "idxport %s %s/%s %s%s\n", convert.Version, runtime.GOOS, runtime.GOARCH, runtime.Version(), commit())
			return err
		},
	}
}
