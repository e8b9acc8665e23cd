/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the reference anew from the tables")

// reference is the page that is made of the tables.
const reference = "../../docs/reference/validation.md"

// TestReference holds the page against the tables, so that what people read is
// what is tested.
func TestReference(t *testing.T) {
	want := render(t, loadTables(t))
	if *update {
		if err := os.WriteFile(reference, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is not what the tables say; run go test ./test/admission -run TestReference -update (-want +got):\n%s", reference, diff)
	}
}

func render(t *testing.T, tables []table) string {
	t.Helper()
	var page strings.Builder
	page.WriteString(introduction)
	for _, table := range tables {
		fmt.Fprintf(&page, "\n## %s\n", table.Title)
		if table.Base != nil {
			common, err := json.Marshal(table.Base)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&page, "\nThe examples are written over %s.\n", code(string(common)))
		}
		page.WriteString("\n| Rule | Field | What holds | Refused, for example |\n|---|---|---|---|\n")
		for _, rule := range table.Rules {
			example, err := rule.Refused[0].line()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", rule.Name, code(rule.Field), cell(rule.Rule), code(example))
		}
	}
	page.WriteString(elsewhere)
	page.WriteString(warnings)
	return page.String()
}

// code is text in the typewriter face, inside a cell.
func code(text string) string {
	return "`" + cell(text) + "`"
}

func cell(text string) string {
	return strings.ReplaceAll(text, "|", `\|`)
}

const introduction = `# What the API accepts

Every object is checked when it is created and when it is changed. All that is wrong is
reported at once, each violation with its field, the value and a remedy:

    $ kubectl apply -f backend.yaml
    The CacheBackend "vllm" is invalid:
    * spec.replicas: Invalid value: -1: must be at least 0
    * spec.type: Invalid value: "SGLangHiCache": no adapter supports it with runtime VLLM; supported pairs: ...

An update is refused only for what it breaks itself. An object that was stored under
looser rules can still be labelled, scaled and reported on; a violation counts as the
stored one when type, field, value and text agree. Deleting is never refused.

Whatever ends up in a Pod is held to the rules of Pods here already. Where clusters of
different versions disagree, the strictest counts.

The tables below are made from the tests in test/admission. In a field, ` + "`[i]`" + ` stands for
an index and a word in angle brackets for a part that varies. The examples are written
over an otherwise valid object.
`

// elsewhere is what no table has: rules that need other objects, and those of a
// question that is never stored.
const elsewhere = `
## More than one object

Three rules look beyond the object that is written. They hold over all servers.

| Field | What holds |
|---|---|
| ` + "`metadata.namespace`" + ` | A namespace has at most one CachePolicy. |
| ` + "`spec.tenantID`" + ` | A tenantID belongs to one CacheTenant of the whole cluster. |
| ` + "`spec.tenantID`" + ` | A tenantID is not the name of another namespace. |

## RouteLookup

A RouteLookup is a question; it is checked when it is asked and never stored.

| Field | What holds |
|---|---|
| ` + "`spec.modelID`" + ` | It is given. |
| ` + "`spec.tokenIDs`, `spec.blockHashes`, `spec.prefixHash`" + ` | Exactly one of them is given. |
| ` + "`spec.tokenIDs`" + ` | At most 1048576 ids, each from 0 to 4294967295. |
| ` + "`spec.blockHashes`, `spec.prefixHash`" + ` | A hash is 16 lower-case hex digits; a chain has at most 65536. |
| ` + "`spec.blockTokenCounts`" + ` | Absent, or one count from 1 to 1048576 for each block hash. |
| ` + "`spec.topK`" + ` | Absent or at least 1. |
| ` + "`spec.modelID`, `spec.tenantID`, `spec.hashScheme`, `spec.adapterID`, `spec.cacheSalt`" + ` | At most 1024 bytes. |
`

const warnings = `
## Warnings

What is legal but hurts is answered with a warning each time it is written. A warning
refuses nothing.

| Field | When |
|---|---|
| ` + "`spec.integration.engineHostNetwork`" + ` | Mooncake is the provider and engines are not on their node's network |
| ` + "`spec.integration.failOpen`" + ` | it is false, so that engines fail with their cache |
| ` + "`spec.lmCache`" + ` | the mode is EventsOnly, which ignores it |
| ` + "`spec.lmCache.workerImage`, `spec.remoteStorage.<provider>.image`" + ` | there is no tag, or one that moves such as latest or nightly, and no digest |
| ` + "`spec.remoteStorage.<provider>.resources`" + ` | it is ` + "`{}`" + `, which takes the default away and puts nothing in its place |
| ` + "`spec.remoteStorage.endpoint`" + ` | the external endpoint is a private address, such as the ClusterIP of a Service |
`
