/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package transcript

import (
	"context"
	"errors"
	"fmt"
)

// step is one thing that a user does while a watch runs, and the lines that have to
// follow it.
type step struct {
	do   func(context.Context) error
	then [][]string
}

// WatchBackends watches a CacheBackend through its life. There must be none in the
// namespace.
func WatchBackends(ctx context.Context, s Shell) error {
	run := func(line string) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := s.Run(ctx, line)
			return err
		}
	}
	if err := run("kubectl create -f minimal.yaml")(ctx); err != nil {
		return err
	}
	return s.watch(ctx, []string{"kubectl get cb -w --output-watch-events"}, []step{
		{then: [][]string{
			{"EVENT", "NAME", "TYPE", "READY", "MATCHED", "ENDPOINT", "PREFIXES", "LASTEVENT", "AGE"},
			{"ADDED", "c", "LMCache", "<none>"},
		}},
		{run("kubectl create -f backend.yaml"), [][]string{{"ADDED", "a", "LMCache", "<none>"}}},
		{
			run("kubectl patch cb a --subresource=status --type=merge --patch-file=status.yaml"),
			[][]string{{"MODIFIED", "a", "LMCache", "True", "3", "a.default.svc.cluster.local:65432", "1200", "<none>"}},
		},
		{run("kubectl delete cb a"), [][]string{{"DELETED", "a", "LMCache", "True"}}},
	})
}

// WatchIndex watches the live index, with and without a name, while the engine of
// [ReportEngine] comes, which start has to bring about. No engine may be known.
func WatchIndex(ctx context.Context, s Shell, start func(context.Context) error) error {
	return s.watch(ctx, []string{
		"kubectl get ci -w --output-watch-events",
		"kubectl get ci cluster-default -w --output-watch-events",
	}, []step{
		{then: [][]string{{"EVENT", "NAME", "PREFIXES", "CHANGED", "AGE"}, {"ADDED", "cluster-default", "0"}}},
		{
			func(ctx context.Context) error {
				_, err := s.Run(ctx, "kubectl create -f minimal.yaml")
				return errors.Join(err, start(ctx))
			},
			[][]string{{"MODIFIED", "cluster-default", "4"}},
		},
	})
}

// watch takes steps and expects every watch to tell of each.
func (s Shell) watch(ctx context.Context, lines []string, steps []step) error {
	var watches []*Watch
	for _, line := range lines {
		w, err := s.Watch(ctx, line)
		if err != nil {
			return err
		}
		defer w.Stop()
		watches = append(watches, w)
	}
	for _, step := range steps {
		if step.do != nil {
			if err := step.do(ctx); err != nil {
				return err
			}
		}
		for i, w := range watches {
			for _, words := range step.then {
				if err := w.Expect(words...); err != nil {
					return fmt.Errorf("%s: %w", lines[i], err)
				}
			}
		}
	}
	return nil
}
