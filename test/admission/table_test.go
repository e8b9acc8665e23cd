/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
)

// table is one file of rules.
type table struct {
	Title string         `json:"title"`
	Kind  string         `json:"kind"`
	Base  map[string]any `json:"base"`
	Rules []rule         `json:"rules"`
}

// rule is one thing that validation holds objects to.
type rule struct {
	// Name is the name of the rule in tests.
	Name string `json:"name"`
	// Field is where a client is told of it. An index is written [i], a part that
	// varies in angle brackets.
	Field string `json:"field"`
	// Rule says it in a sentence.
	Rule     string     `json:"rule"`
	Accepted []manifest `json:"accepted"`
	Refused  []manifest `json:"refused"`
}

// manifest is what is written over a small valid object of the kind. Errors is
// everything that it is refused for.
type manifest struct {
	Metadata map[string]any `json:"metadata,omitempty"`
	Spec     map[string]any `json:"spec,omitempty"`
	Errors   []string       `json:"errors,omitempty"`
}

// loadTables reads all tables in the order of their files.
func loadTables(t *testing.T) []table {
	t.Helper()
	files, err := filepath.Glob("testdata/rules/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables of rules: %v", err)
	}
	var tables []table
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var loaded table
		if err := yaml.UnmarshalStrict(text, &loaded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		tables = append(tables, loaded)
	}
	return tables
}

// forEachRule runs a subtest for every rule of every table.
func forEachRule(t *testing.T, test func(*testing.T, table, rule)) {
	t.Helper()
	for _, loaded := range loadTables(t) {
		for _, rule := range loaded.Rules {
			t.Run(loaded.Kind+"/"+rule.Name, func(t *testing.T) { test(t, loaded, rule) })
		}
	}
}

// object decodes a manifest as the server does: strictly, and with defaults.
func (l table) object(t *testing.T, m manifest) runtime.Object {
	t.Helper()
	return decode(t, merge(merge(kinds[l.Kind].base(), l.Base), map[string]any{"metadata": m.Metadata, "spec": m.Spec}))
}

func decode(t testing.TB, manifest map[string]any) runtime.Object {
	t.Helper()
	text, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	object, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// merge writes over a copy of base. Null removes what base has.
func merge(base, over map[string]any) map[string]any {
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range over {
		inner, isMap := value.(map[string]any)
		switch below, wasMap := merged[key].(map[string]any); {
		case isMap && len(inner) == 0 && wasMap:
		case isMap && wasMap:
			merged[key] = merge(below, inner)
		case value == nil:
			delete(merged, key)
		default:
			merged[key] = value
		}
	}
	return merged
}

// speaksOf tells whether a field of a rule covers the field of an error.
func (r rule) speaksOf(path string) bool {
	pattern := regexp.QuoteMeta(r.Field)
	pattern = strings.ReplaceAll(pattern, `\[i\]`, `\[\d+\]`)
	pattern = regexp.MustCompile(`<\w+>`).ReplaceAllString(pattern, `[^\]]*`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(path)
}

// line is a manifest on one line, without what a table has in common.
func (m manifest) line() (string, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(manifest{Metadata: m.Metadata, Spec: m.Spec})
	return strings.TrimSpace(buffer.String()), err
}
