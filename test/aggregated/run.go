/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"inferencecache.io/inference-cache/test/controlplane"
	"inferencecache.io/inference-cache/test/programs"
)

// Environment is what Run gives to tests.
type Environment struct {
	// Cluster is the control plane, Installation the server behind it.
	Cluster      *controlplane.Cluster
	Installation *Installation
	// Programs is the directory of the programs of this module that were built, and
	// Kubectl the program kubectl.
	Programs, Kubectl string
}

// Run builds the programs, starts a control plane with an installation behind it,
// runs tests and ends everything. What options leave open is filled in: the
// cluster, the programs and the directory; nodes is how many fake nodes there are,
// more names further programs of cmd/ to build. It returns the exit code for
// TestMain and shows what went wrong, and the logs of the servers if a test failed.
func Run(tests func(*Environment) int, options Options, nodes int, more ...string) int {
	var e Environment
	controlPlane, err := controlplane.Programs()
	if err == nil {
		e.Kubectl, err = programs.Kubectl(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return programs.RunBuilt(func(built string) int {
		e.Programs = built
		code, err := run(tests, e, controlPlane, options, nodes)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}, append([]string{programs.APIServer}, more...)...)
}

// run runs tests in an environment of which the programs are known.
func run(tests func(*Environment) int, e Environment, controlPlane string, options Options, nodes int) (code int, err error) {
	ctx := context.Background()
	// A directory of its own, so that everything is gone before the programs are.
	dir, err := os.MkdirTemp("", "inference-cache-aggregated-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	flags := slices.Clone(options.APIServerArgs)
	if options.Strict {
		flags = append(flags, "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement")
	}
	cluster, err := controlplane.Start(ctx, controlplane.Options{Programs: controlPlane, Dir: filepath.Join(dir, "cluster"), Nodes: nodes, APIServerArgs: flags})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	options.Cluster, options.Kubectl, options.Dir = cluster, e.Kubectl, filepath.Join(dir, "installation")
	options.Program, options.Etcd = filepath.Join(e.Programs, programs.APIServer), filepath.Join(controlPlane, "etcd")
	installation, err := Start(ctx, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, installation.Close()) }()
	e.Cluster, e.Installation = cluster, installation
	if code = tests(&e); code != 0 {
		_, err = io.WriteString(os.Stderr, installation.Logs())
	}
	return code, err
}
