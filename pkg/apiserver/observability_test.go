/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	genericoptions "k8s.io/apiserver/pkg/server/options"
)

// observabilityPage is the page for operators whose lists and examples are tested.
const observabilityPage = "../../docs/operations/observability.md"

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(observabilityPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// scrape returns the names of our own metrics.
func scrape(t *testing.T, address string) []string {
	t.Helper()
	names := map[string]bool{}
	for line := range strings.Lines(metricsPage(t, address)) {
		if rest, ok := strings.CutPrefix(line, "# TYPE inferencecache_"); ok {
			names["inferencecache_"+strings.Fields(rest)[0]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestMetricsAreDocumented compares the page with what a server in a cluster serves.
func TestMetricsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(inferencecache_[a-z0-9_]+)").FindAllStringSubmatch(readPage(t), -1) {
		documented[row[1]] = true
	}
	o := inCluster(t, &cluster{})
	// Without certificates from files the server has metrics of its own.
	o.Recommended.SecureServing.ServerCert.CertKey = genericoptions.CertKey{}
	run(t, o)
	served := scrape(t, o.Recommended.SecureServing.Listener.Addr().String())
	if diff := cmp.Diff(served, slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("the page lists other metrics than a server has (-server +page):\n%s", diff)
	}
}

// TestTracingExample reads the page's file as the server does.
func TestTracingExample(t *testing.T) {
	_, rest, _ := strings.Cut(readPage(t), "```yaml\n")
	example, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("the page has no example")
	}
	file := filepath.Join(t.TempDir(), "tracing.yaml")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := genericoptions.ReadTracingConfiguration(file)
	if err != nil {
		t.Fatal(err)
	}
	if config.Endpoint == nil || config.SamplingRatePerMillion == nil {
		t.Errorf("the example leaves out what it explains: %+v", config)
	}
}
