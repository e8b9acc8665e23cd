/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"

	"inferencecache.io/inference-cache/pkg/apiserver/options"
)

// newSnapshotCommand returns the commands about the embedded etcd of a data
// directory. They are for a server without --etcd-servers.
func newSnapshotCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Save and restore the embedded etcd",
		Long: "Save and restore the embedded etcd of a data directory.\n\n" +
			"  save     copy what is stored to a file, while the server runs or not\n" +
			"  restore  make a new data directory from such a file",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addFlags(cmd, nil)
	save := &options.SnapshotSave{Stdout: os.Stdout, Stderr: os.Stderr}
	restore := &options.SnapshotRestore{Stdout: os.Stdout}
	cmd.AddCommand(
		newLeaf("save", "Save the embedded etcd to a file",
			"Save the embedded etcd of a data directory to a file, with a checksum. If a server runs on the\n"+
				"directory it makes the copy, without a pause in its writes.", save),
		newLeaf("restore", "Make a data directory from a saved file",
			"Make a data directory from a file that \"snapshot save\" has made. The resourceVersions of the restored\n"+
				"server are higher than all that clients have seen, so that they list again instead of going on in the past.", restore),
	)
	return cmd
}

// task is what a command without further commands does.
type task interface {
	AddFlags(fs *pflag.FlagSet)
	Validate() error
	Run(ctx context.Context) error
}

// newLeaf returns the command of a task. The first signal ends the task in good
// order, a second one the process.
func newLeaf(name, short, long string, t task) *cobra.Command {
	cmd := &cobra.Command{
		Use:          name,
		Short:        short,
		Long:         long,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, restore := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer restore()
			context.AfterFunc(ctx, restore)
			if err := t.Validate(); err != nil {
				return err
			}
			return t.Run(ctx)
		},
	}
	addFlags(cmd, t.AddFlags)
	return cmd
}

// addFlags gives a command its flags and a help text that shows them, instead of
// those of the server.
func addFlags(cmd *cobra.Command, add func(*pflag.FlagSet)) {
	var groups cliflag.NamedFlagSets
	if add != nil {
		add(groups.FlagSet("snapshot"))
	}
	globalflag.AddGlobalFlags(groups.FlagSet("global"), cmd.Name())
	for _, set := range groups.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	cliflag.SetUsageAndHelpFunc(cmd, groups, helpColumns)
}
