//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// auditPolicy has the cluster write down what the manager asks of it, and nothing
// else.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["system:serviceaccount:inference-cache-system:inference-cache-manager"]
- level: None
`

// nodes are enough for the stores on the network of their host that stand at one
// time, of which a node has room for one.
const nodes = 4

// environment is shared by all tests.
var environment struct {
	*aggregated.Environment

	// dir is for files of the tests, audit what the manager asked of the cluster.
	dir, audit string
	manager    *managed
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	environment.dir, err = os.MkdirTemp("", "inference-cache-manager-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(environment.dir)) }()
	policy := filepath.Join(environment.dir, "policy.yaml")
	environment.audit = filepath.Join(environment.dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return 0, err
	}
	code = aggregated.Run(func(e *aggregated.Environment) int {
		environment.Environment = e
		code, err := withManager(context.Background(), m.Run)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}, aggregated.Options{
		Strict:        true,
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + environment.audit},
	}, nodes, programs.Manager, programs.Subscriber)
	return code, nil
}

// withManager runs tests while a manager runs, which has to end well and to have
// used all of its rights.
func withManager(ctx context.Context, tests func() int) (code int, err error) {
	if err := applyManifests(ctx, "localhost:443"); err != nil {
		return 0, err
	}
	first, err := startManager(ctx, "first")
	if err != nil {
		return 0, err
	}
	if err := takeOver(ctx, first); err != nil {
		return 0, errors.Join(err, first.Kill())
	}
	code = tests()
	if code != 0 {
		fmt.Fprintln(os.Stderr, programs.Tail(environment.manager.log))
	}
	err = environment.manager.stop(ctx)
	if code == 0 && flag.Lookup("test.run").Value.String() == "" {
		err = errors.Join(err, checkRights())
	}
	return code, err
}
