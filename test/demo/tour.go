/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// tableType is what kubectl asks for when it prints a list.
const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io"

// tour shows what can be asked by hand, and how.
type tour struct {
	root   string
	server *server
	out    io.Writer
	// kubectl is the program to use, empty if there is none.
	kubectl string
}

// findKubectl returns a kubectl from the search path or from bin/.
func findKubectl(root string) string {
	for _, candidate := range []string{"kubectl", filepath.Join(root, "bin", "kubectl")} {
		if path, err := exec.LookPath(candidate); err == nil {
			return path
		}
	}
	return ""
}

// show asks for everything once.
func (t *tour) show(ctx context.Context, backends []string, request *pb.LookupRouteRequest) error {
	list := "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/namespaces/" + namespace + "/cachebackends"
	if err := t.table(ctx, list, "get", "cachebackends"); err != nil {
		return err
	}
	for _, backend := range backends {
		if err := t.table(ctx, observationPath(backend), "get", "cb", backend, "--subresource=observation"); err != nil {
			return err
		}
	}
	if err := t.observation(ctx, backends[1]); err != nil {
		return err
	}
	return t.lookup(ctx, request)
}

// table prints a path of the API as kubectl shows it.
func (t *tour) table(ctx context.Context, path string, args ...string) error {
	t.prompt(args...)
	if t.run(ctx, args...) {
		return nil
	}
	body, err := t.server.raw(ctx, path, tableType)
	if err != nil {
		return err
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		return fmt.Errorf("read table: %w", err)
	}
	return printTable(t.out, &table)
}

// printTable prints what kubectl prints: the columns of priority 0.
func printTable(out io.Writer, table *metav1.Table) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	var head []string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			head = append(head, strings.ToUpper(column.Name))
		}
	}
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range table.Rows {
		var cells []string
		for i, cell := range row.Cells {
			if table.ColumnDefinitions[i].Priority != 0 {
				continue
			}
			if cell == nil {
				cell = "<none>"
			}
			cells = append(cells, fmt.Sprint(cell))
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// observation prints all that is known of one backend.
func (t *tour) observation(ctx context.Context, backend string) error {
	args := []string{"get", "cb", backend, "--subresource=observation", "-o", "yaml"}
	t.prompt(args...)
	if t.run(ctx, args...) {
		return nil
	}
	body, err := t.server.raw(ctx, observationPath(backend), runtime.ContentTypeYAML)
	if err != nil {
		return err
	}
	_, err = t.out.Write(body)
	return err
}

// lookup prints one answer with its reasoning.
func (t *tour) lookup(ctx context.Context, request *pb.LookupRouteRequest) error {
	fmt.Fprintf(t.out, "\nLookupRoute for %d tokens of %s:\n", len(request.GetTokenIds()), request.GetModelId())
	request.Explain = true
	response, err := t.server.lookup(ctx, request)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "  reason    %s in %d µs, from %s, complete: %t\n",
		response.GetReasonCode(), response.GetLookupLatencyUs(), response.GetObservedBy(), response.GetComplete())
	if text := response.GetExplanation(); text != "" {
		fmt.Fprintf(t.out, "  because   %s\n", text)
	}
	for _, r := range response.GetReplicaScores() {
		fmt.Fprintf(t.out, "  replica   %s/%s: %d tokens, tier %s, exact: %t, %s; first token in %.2f ms, %.2f saved\n", r.GetNamespace(), r.GetReplicaId(),
			r.GetMatchedTokens(), strings.TrimPrefix(r.GetTier().String(), "CACHE_TIER_"), r.GetExact(), r.GetState(), r.GetExpectedTtftMs(), r.GetScore())
		if text := r.GetExplanation(); text != "" {
			fmt.Fprintf(t.out, "  because   %s\n", text)
		}
	}
	return nil
}

// commands prints how to go on by hand.
func (t *tour) commands(backend string) {
	kubectl := "kubectl"
	if filepath.Dir(t.kubectl) == filepath.Join(t.root, "bin") {
		kubectl = t.kubectl
	}
	fmt.Fprintf(t.out, `
Everything keeps running. In another terminal:

  export KUBECONFIG=%[1]s
  %[2]s get cachebackends -o wide
  %[2]s get --raw %[3]s
  %[2]s get --raw %[4]s
  %[2]s get cacheindices -w
  %[2]s create -f %[5]s -o yaml
  %[2]s explain cachebackend.spec.remoteStorage
`, t.server.kubeconfig(), kubectl, observationPath(backend), strings.TrimSuffix(observationPath(backend), "observation")+"snapshot",
		filepath.Join(t.root, examplesDir, "lookups", "routelookup.yaml"))
	if t.kubectl == "" {
		fmt.Fprint(t.out, "\nThere is no kubectl here: `make bin/kubectl` builds the pinned one into bin/.\n")
	}
	fmt.Fprint(t.out, "\nCtrl-C ends all of it.\n")
}

func (t *tour) prompt(args ...string) {
	fmt.Fprintf(t.out, "\n$ kubectl %s\n", strings.Join(args, " "))
}

// run shows what kubectl says. It reports false if there is none, or one that is
// too old to know the subresource, so that the demo asks by itself.
func (t *tour) run(ctx context.Context, args ...string) bool {
	if t.kubectl == "" {
		return false
	}
	cmd := exec.CommandContext(ctx, t.kubectl, append([]string{"--kubeconfig=" + t.server.kubeconfig(), "--namespace=" + namespace}, args...)...)
	output, err := cmd.Output()
	if err != nil {
		return false
	}
	_, err = t.out.Write(output)
	return err == nil
}
