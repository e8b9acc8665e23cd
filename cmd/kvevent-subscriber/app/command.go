/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"inferencecache.io/inference-cache/pkg/subscriber"
	"inferencecache.io/inference-cache/pkg/version"
)

// New returns the root command.
func New() *cobra.Command {
	options := subscriber.NewOptions()
	verbosity := 0
	command := &cobra.Command{
		Use:   "kvevent-subscriber",
		Short: "Report an inference engine's KV cache to the index",
		Long: `kvevent-subscriber runs in the Pod of a vLLM or SGLang engine, follows the
engine's cache events, and keeps every replica of the index informed of which
prompt prefixes the engine holds. It sends hashes, never tokens or text.`,
		Version:       version.Describe(),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(verbosity)))
			klog.SetLogger(logger)
			options.ClientVersion = version.Own()
			s, err := subscriber.New(*options)
			if err != nil {
				return err
			}
			logger.Info("Starting", "version", options.ClientVersion, "metricsAddress", s.Address())
			return s.Run(klog.NewContext(cmd.Context(), logger))
		},
	}
	options.AddFlags(command.Flags())
	command.Flags().IntVarP(&verbosity, "log-verbosity", "v", verbosity, "How much is logged: 0 what an operator must see, 2 state changes, 5 everything.")
	return command
}
