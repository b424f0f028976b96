package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/urfave/cli/v3"
)

// versionCommand is `idxport version`.
func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:            "version",
		Usage:           "print the version",
		UsageText:       "idxport version",
		HideHelpCommand: true,
		OnUsageError:    onUsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.stdout, "idxport %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
