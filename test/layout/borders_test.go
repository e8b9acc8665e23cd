/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package layout

import (
	"slices"
	"strings"
)

// borderRow says what the packages of one tree may import.
type borderRow struct {
	// tree is a path inside the module; the longest tree that holds a package
	// decides for it.
	tree string
	// ours lists the trees of this module that may be imported directly, next
	// to tree itself.
	ours []string
	// theirs lists the foreign modules or trees that may be imported directly.
	// Nil allows any, empty none but the standard library.
	theirs []string
	// tests lists the trees of this module that only tests may import: the other
	// side of a conversation that the package has.
	tests []string
	// never lists what must not even be linked: no dependency, however distant,
	// may lie there. Trees of this module start with "pkg/".
	never []string
}

// Trees that many borders name.
var (
	// kubernetes is everything that brings the Kubernetes machinery along.
	kubernetes = []string{"k8s.io", "sigs.k8s.io"}
	// servers is what no client of the API may link.
	servers = []string{"pkg/apiserver", "pkg/registry", "pkg/index", "pkg/indexserver", "pkg/routing", "pkg/storage"}
	// managed is what the manager's packages may import.
	managed = []string{"pkg/apis", "pkg/generated", "pkg/adapters", "pkg/certs", "pkg/fingerprint", "pkg/client/routing"}
)

// borders is the map of the repository, in the order of dependence: what is
// named further down may import what stands above it, never the reverse.
var borders = []borderRow{
	{tree: "pkg/fingerprint", theirs: []string{"github.com/zeebo/xxh3"}},
	{tree: "pkg/version", theirs: []string{}},
	{tree: "pkg/zmtp", theirs: []string{}},
	{tree: "pkg/kvevents", ours: []string{"pkg/zmtp"}, theirs: []string{"github.com/vmihailenco/msgpack/v5", "github.com/tinylib/msgp"}},
	{tree: "pkg/index", ours: []string{"pkg/fingerprint"}, never: append([]string{"google.golang.org/grpc"}, kubernetes...)},
	{tree: "pkg/routing", ours: []string{"pkg/index", "pkg/fingerprint"}, never: append([]string{"google.golang.org/grpc"}, kubernetes...)},
	{tree: "pkg/tokenizer", theirs: []string{}},
	{
		tree:  "pkg/apis",
		never: []string{"k8s.io/apiserver", "k8s.io/client-go", "sigs.k8s.io/controller-runtime", "google.golang.org/grpc", "pkg/registry", "pkg/adapters"},
	},
	{tree: "pkg/generated", ours: []string{"pkg/apis"}, never: []string{"k8s.io/apiserver"}},
	{tree: "pkg/adapters", ours: []string{"pkg/apis"}, never: append([]string{"k8s.io/apiserver"}, servers...)},
	{
		tree: "pkg/registry", ours: []string{"pkg/apis", "pkg/generated"}, tests: []string{"pkg/storage/embedded"},
		never: []string{"pkg/index", "pkg/routing", "pkg/indexserver", "pkg/adapters"},
	},
	{tree: "pkg/indexserver", ours: []string{"pkg/fingerprint", "pkg/index", "pkg/routing", "pkg/generated"}, never: []string{"k8s.io/apiserver", "pkg/registry"}},
	{tree: "pkg/storage", never: []string{"k8s.io/apiserver"}},
	{tree: "pkg/certs", never: []string{"k8s.io/apiserver"}},
	{tree: "pkg/apiserver", ours: []string{
		"pkg/fingerprint", "pkg/index", "pkg/routing", "pkg/tokenizer", "pkg/apis", "pkg/generated", "pkg/adapters",
		"pkg/registry", "pkg/indexserver", "pkg/storage", "pkg/certs", "pkg/version",
	}, never: []string{"sigs.k8s.io/controller-runtime"}},
	{
		tree: "pkg/subscriber", ours: []string{"pkg/zmtp", "pkg/kvevents", "pkg/fingerprint", "pkg/generated/proto"},
		tests: []string{"pkg/index", "pkg/indexserver/indexservertest"}, never: append([]string{"k8s.io/apiserver"}, servers...),
	},
	{
		tree: "pkg/client/routing", ours: []string{"pkg/fingerprint", "pkg/generated/proto"},
		tests: []string{"pkg/index", "pkg/indexserver/indexservertest"}, never: append(append([]string{}, kubernetes...), servers...),
	},
	{tree: "pkg/controller", ours: managed, never: servers},
	{tree: "pkg/webhook", ours: managed, never: servers},
	{tree: "pkg/gateway", ours: managed, never: servers},
	{tree: "cmd/apiserver", ours: []string{"pkg/apiserver", "pkg/version"}, tests: []string{"pkg/apis", "pkg/generated"}, never: []string{"sigs.k8s.io/controller-runtime"}},
	{tree: "cmd/manager", ours: []string{"pkg/controller", "pkg/webhook", "pkg/gateway", "pkg/certs", "pkg/apis", "pkg/generated", "pkg/adapters", "pkg/version"}, never: servers},
	{tree: "cmd/kvevent-subscriber", ours: []string{"pkg/subscriber", "pkg/version"}, never: append([]string{"k8s.io/apiserver"}, servers...)},
	{tree: "cmd/kubectl-inferencecache", ours: []string{"pkg/apis", "pkg/generated", "pkg/client/routing", "pkg/fingerprint"}, never: servers},
}

// owners names foreign modules that only some trees may import directly, so that
// what is behind them can be exchanged in one place. Tests may import them to
// have a second opinion.
var owners = map[string][]string{
	"go.etcd.io/etcd/server/v3":         {"pkg/storage/embedded"},
	"go.etcd.io/bbolt":                  {"pkg/storage/embedded"},
	"github.com/zeebo/xxh3":             {"pkg/fingerprint", "pkg/routing"},
	"github.com/vmihailenco/msgpack/v5": {"pkg/kvevents", "test"},
	"github.com/tinylib/msgp":           {"pkg/kvevents", "test"},
	"github.com/go-zeromq/zmq4":         {"test"},
	"sigs.k8s.io/controller-runtime":    {"pkg/controller", "pkg/webhook", "pkg/gateway", "cmd/manager", "test"},
}

// unmapped are the trees that no border speaks of: what joins packages in tests
// and what builds the repository. Nothing else may import them.
var unmapped = []string{"test", "hack"}

// borderOf finds the border of a package: that of the longest tree around it.
func borderOf(path string) (borderRow, bool) {
	var found borderRow
	for _, border := range borders {
		if within(path, border.tree) && len(border.tree) > len(found.tree) {
			found = border
		}
	}
	return found, found.tree != ""
}

// broken returns what a package imports or links against its border, each as
// the end of a sentence that starts with the package.
func (b borderRow) broken(p goPackage) []string {
	var broken []string
	for _, imported := range p.Imports {
		if path, ours := strings.CutPrefix(imported, module+"/"); ours {
			if !within(path, b.tree) && !withinAny(path, b.ours) {
				broken = append(broken, "imports "+path)
			}
		} else if b.theirs != nil && isForeign(imported) && !withinAny(imported, b.theirs) {
			broken = append(broken, "imports "+imported)
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		path, ours := strings.CutPrefix(imported, module+"/")
		if ours && !within(path, b.tree) && !withinAny(path, b.ours) && !withinAny(path, b.tests) && !withinAny(path, unmapped) {
			broken = append(broken, "imports "+path+" in a test")
		}
	}
	for _, linked := range p.Deps {
		path, ours := strings.CutPrefix(linked, module+"/")
		if withinAny(path, b.never) && ours == strings.HasPrefix(path, "pkg/") {
			broken = append(broken, "links "+path)
		}
	}
	return broken
}

// isForeign tells modules from the standard library, whose paths have no dot in
// their first element.
func isForeign(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}
