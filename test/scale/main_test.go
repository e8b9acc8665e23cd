//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scale

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/programs"
)

// What a run can be told, after -args. Each backend has a store and nine engines.
var (
	backends = flag.Int("backends", 100, "how many CacheBackends there are, each with ten Pods")
	window   = flag.Duration("window", 20*time.Second, "how long the calls of the steady state are counted")
)

// podsPerNode leaves room on a node, which takes 250.
const podsPerNode = 150

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

// environment is what the test runs in.
var environment struct {
	*aggregated.Environment

	// dir is for files of the test.
	dir   string
	calls ledger
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
	environment.dir, err = os.MkdirTemp("", "inference-cache-scale-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(environment.dir)) }()
	policy := filepath.Join(environment.dir, "policy.yaml")
	environment.calls = ledger{file: filepath.Join(environment.dir, "audit.log")}
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return 0, err
	}
	return aggregated.Run(func(e *aggregated.Environment) int {
		environment.Environment = e
		if err := applyManifests(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}, aggregated.Options{
		APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + environment.calls.file, "--audit-log-maxsize=4096"},
	}, 2+*backends*(engines+1)/podsPerNode, programs.Manager), nil
}
