/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/cli/globalflag"
	"k8s.io/component-base/logs"
	logsapi "k8s.io/component-base/logs/api/v1"
	// Registers the JSON format of the log.
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
	"inferencecache.io/inference-cache/pkg/version"
)

// helpColumns is the width that --help is wrapped to.
const helpColumns = 120

// Command is the root command with its flags in the groups of --help.
type Command struct {
	*cobra.Command

	Groups cliflag.NamedFlagSets
}

// New returns the root command. Its output is the process's.
func New() *Command {
	opts := options.New()
	opts.Out = os.Stdout
	cmd := &cobra.Command{
		Use:   apiserver.ProgramName,
		Short: "Serve the inference-cache API",
		Long: "Serve the API group inferencecache.io, the live index of what inference engines hold,\n" +
			"and the gRPC service through which engines report and routers ask.\n\n" +
			"With --standalone no cluster is needed. \"snapshot save\" and \"snapshot restore\" back up the embedded etcd.",
		Version:      version.Describe(),
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), opts)
		},
	}
	var groups cliflag.NamedFlagSets
	opts.AddFlags(&groups)
	globalflag.AddGlobalFlags(groups.FlagSet("global"), cmd.Name(), logs.SkipLoggingConfigurationFlags())
	for _, set := range groups.FlagSets {
		cmd.Flags().AddFlagSet(set)
	}
	cliflag.SetUsageAndHelpFunc(cmd, groups, helpColumns)
	// A server is started by a manifest; the only command of its own is for people.
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.AddCommand(newSnapshotCommand())
	return &Command{Command: cmd, Groups: groups}
}

// run serves until a signal asks to stop. A second signal ends the process at
// once, for an operator who does not want to wait for open requests.
func run(ctx context.Context, opts *options.Options) error {
	if err := logsapi.ValidateAndApply(opts.Logs, nil); err != nil {
		return fmt.Errorf("logging: %w", err)
	}
	ctx, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer restore()
	context.AfterFunc(ctx, restore)

	if err := opts.Complete(); err != nil {
		return err
	}
	if err := opts.Validate(); err != nil {
		return err
	}
	config, err := opts.Config(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// It was waiting for the cluster, and was told that it need not any more.
		klog.FromContext(ctx).Info("Stopped before there was anything to serve", "detail", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	return config.Start(ctx)
}
