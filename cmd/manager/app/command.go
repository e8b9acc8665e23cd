/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"inferencecache.io/inference-cache/pkg/version"
)

// userAgent is how the manager calls itself towards the cluster.
const userAgent = "inference-cache-manager"

// New returns the root command.
func New() *cobra.Command {
	options := NewOptions()
	verbosity := 0
	command := &cobra.Command{
		Use:   "inference-cache-manager",
		Short: "Provision and check the caches that CacheBackends declare",
		Long: `inference-cache-manager runs in a cluster that serves the group inferencecache.io.
It provisions the stores of CacheBackends, counts their engines, and keeps in their
status what of them is true.`,
		Version:       version.Describe(),
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.Validate(); err != nil {
				return err
			}
			logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(verbosity)))
			klog.SetLogger(logger)
			log.SetLogger(logger)
			config, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
			if err != nil {
				return err
			}
			config.UserAgent = userAgent + "/" + version.Own()
			// The cluster limits its callers itself, by priority and fairly.
			config.QPS = -1
			manager, err := newManager(config, options, logger)
			if err != nil {
				return err
			}
			logger.Info("Starting", "version", version.Own())
			return manager.Start(klog.NewContext(cmd.Context(), logger))
		},
	}
	options.AddFlags(command.Flags())
	command.Flags().IntVarP(&verbosity, "log-verbosity", "v", verbosity, "How much is logged: 0 what an operator must see, 2 state changes, 5 everything.")
	return command
}
