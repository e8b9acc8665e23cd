/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package artifacts

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write artifacts/monitoring/prometheusrule.yaml anew")

// alert is a rule that alerts.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// rulesFile is what Prometheus reads, as far as it is used.
type rulesFile struct {
	Groups []struct {
		Name  string  `json:"name"`
		Rules []alert `json:"rules"`
	} `json:"groups"`
}

func read(t *testing.T, elements ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(elements...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// alerts reads the rules that are shipped.
func alerts(t *testing.T) []alert {
	t.Helper()
	var file rulesFile
	if err := yaml.UnmarshalStrict([]byte(read(t, root, "monitoring", "rules.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	var all []alert
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

// engineMetrics are those that engines serve themselves, of which pkg/subscriber/scrape
// reads the same.
var engineMetrics = []string{"vllm:external_prefix_cache_hits_total", "vllm:external_prefix_cache_queries_total"}

// notMetrics are parts of an expression in which no metric is named, innermost first.
var notMetrics = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^]]*\]|\b(by|on|ignoring|without) \([^)]*\)`)

// language are the words of expressions that are used here.
var language = []string{"and", "increase", "max", "min", "or", "rate", "sum"}

// metricsOf returns the metrics in an expression.
func metricsOf(expr string) []string {
	names := map[string]bool{}
	for _, part := range []string{`"[^"]*"`, notMetrics.String()} {
		expr = regexp.MustCompile(part).ReplaceAllString(expr, " ")
	}
	for _, word := range regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`).FindAllString(expr, -1) {
		if !slices.Contains(language, word) {
			names[word] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// TestAlertMetrics holds that rules are about metrics that exist. The page for
// operators names them, and tests of pkg/apiserver and pkg/controller/cachebackend hold
// it against what the programs register.
func TestAlertMetrics(t *testing.T) {
	known := map[string]bool{}
	page := read(t, "..", "..", "docs", "operations", "observability.md")
	for _, row := range regexp.MustCompile("(?m)^(?:\\| `(inferencecache_[a-z0-9_]+)|\\* `(inferencecache_backend_[a-z0-9_]+))").FindAllStringSubmatch(page, -1) {
		known[row[1]+row[2]] = true
	}
	for _, name := range engineMetrics {
		known[name] = true
	}
	for _, a := range alerts(t) {
		names := metricsOf(a.Expr)
		if len(names) == 0 {
			t.Errorf("%s is about no metric", a.Alert)
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s is about %s, which nothing serves", a.Alert, name)
			}
		}
	}
}

// TestMetricsOf holds that nothing in an expression is overlooked.
func TestMetricsOf(t *testing.T) {
	tests := map[string]struct {
		expr string
		want []string
	}{
		"a comparison":          {`up == 0`, []string{"up"}},
		"a rate with a label":   {`sum by (a, b) (rate(x_total{r="y"}[5m])) > 0.1`, []string{"x_total"}},
		"a label with brackets": {`x{r="[}"} > 0`, []string{"x"}},
		"a match":               {"max by (a) (x)\nand on (a)\nmin by (a) (e:y_total)", []string{"e:y_total", "x"}},
		"a function not known":  {`deriv(x[5m])`, []string{"deriv", "x"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, metricsOf(tc.expr)); diff != "" {
				t.Errorf("wrong metrics (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlertsAreExplained holds that each alert leads to its part of the page, and that
// the page explains no other.
func TestAlertsAreExplained(t *testing.T) {
	const page = "docs/operations/alerts.md"
	explained := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^## (\w+)$`).FindAllStringSubmatch(read(t, "..", "..", page), -1) {
		explained[heading[1]] = true
	}
	shipped := map[string]bool{}
	for _, a := range alerts(t) {
		shipped[a.Alert] = true
		if want := page + "#" + strings.ToLower(a.Alert); a.Annotations["runbook"] != want {
			t.Errorf("%s leads to %q, want %q", a.Alert, a.Annotations["runbook"], want)
		}
		if a.Annotations["summary"] == "" || a.For == "" || !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s lacks a summary, how long it waits, or a severity", a.Alert)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(shipped)), slices.Sorted(maps.Keys(explained))); diff != "" {
		t.Errorf("%s explains other alerts than there are (-rules +page):\n%s", page, diff)
	}
}

// alertFiles are the cases that Prometheus judges.
func alertFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "alerts", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of cases, error %v", len(files), err)
	}
	return files
}

// TestAlertsHaveCases holds that each rule has a case in which it fires, one in which it
// is quiet, and that its alert has one without any series.
func TestAlertsHaveCases(t *testing.T) {
	type rule struct{ alert, severity, scope string }
	fires, quiet, absent := map[rule]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range alertFiles(t) {
		var cases struct {
			Tests []struct {
				Series []any `json:"input_series"`
				Alerts []struct {
					Name     string `json:"alertname"`
					Expected []struct {
						Labels map[string]string `json:"exp_labels"`
					} `json:"exp_alerts"`
				} `json:"alert_rule_test"`
			} `json:"tests"`
		}
		if err := yaml.Unmarshal([]byte(read(t, file)), &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range cases.Tests {
			for _, a := range c.Alerts {
				quiet[a.Name] = quiet[a.Name] || len(a.Expected) == 0 && len(c.Series) > 0
				absent[a.Name] = absent[a.Name] || len(a.Expected) == 0 && len(c.Series) == 0
				for _, e := range a.Expected {
					fires[rule{a.Name, e.Labels["severity"], e.Labels["scope"]}] = true
				}
			}
		}
	}
	for _, a := range alerts(t) {
		if !quiet[a.Alert] || !absent[a.Alert] {
			t.Errorf("%s: a case in which it is quiet %t, one without series %t; want both", a.Alert, quiet[a.Alert], absent[a.Alert])
		}
		if r := (rule{a.Alert, a.Labels["severity"], a.Labels["scope"]}); !fires[r] {
			t.Errorf("%+v never fires in a case", r)
		}
	}
}

// ruleHead comes before the rules in the object of the Prometheus operator.
const ruleHead = `# The alert rules of rules.yaml for the Prometheus operator. Change them there; then
# go test ./test/artifacts -run=TestPrometheusRule -update
# writes this file.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: inference-cache
  namespace: inference-cache-system
spec:
`

// TestPrometheusRule holds that the operator gets the rules that are tested.
func TestPrometheusRule(t *testing.T) {
	_, rules, found := strings.Cut(read(t, root, "monitoring", "rules.yaml"), "\ngroups:")
	if !found {
		t.Fatal("rules.yaml has no groups")
	}
	want := ruleHead + regexp.MustCompile(`(?m)^.`).ReplaceAllString("groups:"+rules, "  $0")
	file := filepath.Join(root, "monitoring", "prometheusrule.yaml")
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, read(t, file)); diff != "" {
		t.Errorf("%s has other rules than rules.yaml; run the test with -update (-want +got):\n%s", file, diff)
	}
}
