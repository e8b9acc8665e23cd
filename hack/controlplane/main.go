/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command controlplane gives a person the cluster that tests run against: a real
// Kubernetes control plane on loopback, with nodes that run nothing.
//
//	controlplane up   -dir DIR -programs DIR [-nodes N]
//	controlplane down -dir DIR
//
// Up starts it and prints how to use it; if it runs already, it only prints. What
// is left of one that was not ended in order is replaced. Down ends exactly the
// processes that up started and removes what they wrote; if nothing is there, it
// does nothing. `make cluster-up` and `make cluster-down` call them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"

	"inferencecache.io/inference-cache/test/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run is the program without the process.
func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say up or down")
	}
	flags := flag.NewFlagSet("controlplane "+args[0], flag.ContinueOnError)
	dir := flags.String("dir", "", "where the cluster is kept")
	options := controlplane.Options{Outlive: true}
	switch args[0] {
	case "up":
		flags.StringVar(&options.Programs, "programs", "", "directory of the programs; hack/tool.sh controlplane prints it")
		flags.IntVar(&options.Nodes, "nodes", 2, "how many fake nodes there are")
	case "down":
	default:
		return fmt.Errorf("%q is neither up nor down", args[0])
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *dir == "" || flags.NArg() > 0 {
		return fmt.Errorf("%s takes flags only, and needs -dir", args[0])
	}
	absolute, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	held, err := lock(absolute)
	if err != nil {
		return err
	}
	defer held.Close()
	// The lock is on the directory, so the cluster has one inside, which may come
	// and go while it is held.
	options.Dir = filepath.Join(absolute, "cluster")
	if args[0] == "up" {
		err = up(ctx, options, out)
	} else {
		err = controlplane.End(ctx, options.Dir)
	}
	// This removes the directory if there is no cluster in it, and nothing else.
	if removal := os.Remove(absolute); removal != nil && !errors.Is(removal, syscall.ENOTEMPTY) {
		err = errors.Join(err, removal)
	}
	return err
}

func up(ctx context.Context, options controlplane.Options, out io.Writer) error {
	kubeconfig, err := controlplane.Running(options.Dir)
	if err != nil {
		return err
	}
	if kubeconfig == "" {
		if err := controlplane.End(ctx, options.Dir); err != nil {
			return err
		}
		cluster, err := controlplane.Start(ctx, options)
		if err != nil {
			return err
		}
		kubeconfig = cluster.Kubeconfig()
	}
	return describe(kubeconfig, filepath.Dir(options.Dir), out)
}

// describe tells what runs, how to use it and how to end it.
func describe(kubeconfig, dir string, out io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	version, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("the cluster of %s does not answer: %w", kubeconfig, err)
	}
	_, err = fmt.Fprintf(out, `Kubernetes %s runs on %s. Its kubeconfig is
  %[3]s
Try
  bin/kubectl --kubeconfig=%[3]s get nodes
  bin/kubectl --kubeconfig=%[3]s create deployment hello --image=hello --replicas=2
Pods become ready there, and nothing runs in them. To end it
  make cluster-down CLUSTERDIR=%[4]s
`, version.GitVersion, config.Host, kubeconfig, dir)
	return err
}
