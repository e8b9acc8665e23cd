//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	tenant, model, backend = "team", "soak", "cache"
	// indexName is the host that subscribers report to.
	indexName = "index.test."
)

// loopbacks are the addresses of the two servers, which share a port. Linux has
// all of 127.0.0.0/8; elsewhere the second may have to be given to the interface.
func loopbacks() []string { return []string{"127.0.0.1", "127.0.0.2"} }

// server is one replica of the API server.
type server struct {
	*programs.Server
	api versioned.Interface
	// resident is what its memory was, in bytes.
	resident []float64
}

// startServers starts an etcd and the servers in front of it, and makes the
// backend of all engines.
func startServers(t *testing.T) []*server {
	t.Helper()
	dir := t.TempDir()
	etcd, err := embedded.Start(t.Context(), embedded.Config{Dir: filepath.Join(dir, "etcd"), UnsafeNoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := etcd.Close(); err != nil {
			t.Error(err)
		}
	})
	address, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	var servers []*server
	for i, host := range loopbacks() {
		home := filepath.Join(dir, strconv.Itoa(i))
		if err := os.MkdirAll(filepath.Join(home, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			shareCredentials(t, filepath.Join(dir, "0", "data"), filepath.Join(home, "data"))
		}
		s := &server{}
		s.Server, err = programs.StartServerWith(t.Context(), &binaries.Starting, programs.ServerConfig{
			Program: binaries.server, Dir: home, Address: net.JoinHostPort(host, port),
			Args: []string{"--etcd-servers=" + etcd.Endpoints()[0]},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		})
		config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
		if err != nil {
			t.Fatal(err)
		}
		if s.api, err = versioned.NewForConfig(config); err != nil {
			t.Fatal(err)
		}
		servers = append(servers, s)
	}
	makeBackend(t, servers[0].api)
	return servers
}

// shareCredentials gives a second server the token and the authority of the
// first: a subscriber has one of each, whatever the number of servers.
func shareCredentials(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(to, "pki"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"token", "ca.crt", "pki/ca.key"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func makeBackend(t *testing.T, api versioned.Interface) {
	t.Helper()
	_, err := api.InferencecacheV1alpha1().CacheBackends(tenant).Create(t.Context(), &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: backend},
		Spec: v1alpha1.CacheBackendSpec{
			Runtime:        v1alpha1.RuntimeVLLM,
			Integration:    &v1alpha1.IntegrationSpec{Mode: v1alpha1.IntegrationModeEventsOnly},
			EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// view gets all pages of a subresource of the backend, without the fields that
// may differ between two servers that know the same: those of every answer, and
// others.
func (s *server) view(ctx context.Context, subresource string, others ...string) ([]byte, error) {
	var view []byte
	for next := ""; ; {
		raw, err := s.api.InferencecacheV1alpha1().RESTClient().Get().Namespace(tenant).
			Resource("cachebackends").Name(backend).SubResource(subresource).Param("continue", next).DoRaw(ctx)
		if err != nil {
			return nil, err
		}
		var object map[string]any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // they stay as they are written
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		for _, field := range append([]string{"observedBy", "asOf"}, others...) {
			delete(object, field)
		}
		if metadata, ok := object["metadata"].(map[string]any); ok {
			delete(metadata, "resourceVersion")
		}
		page, err := json.MarshalIndent(object, "", " ")
		if err != nil {
			return nil, err
		}
		view = append(append(view, page...), '\n')
		if next, _ = object["continue"].(string); next == "" {
			return view, nil
		}
	}
}

// equalViews says how the servers differ about a subresource.
func equalViews(ctx context.Context, servers []*server, subresource string, others ...string) error {
	var first []byte
	for i, s := range servers {
		view, err := s.view(ctx, subresource, others...)
		if err != nil {
			return fmt.Errorf("%s of server %d: %w", subresource, i, err)
		}
		if i == 0 {
			first = view
		} else if !bytes.Equal(first, view) {
			return fmt.Errorf("the servers differ in the %s: %s", subresource, firstDifference(first, view))
		}
	}
	return nil
}

// firstDifference shows the lines where two texts part.
func firstDifference(a, b []byte) string {
	const before, after = 12, 6
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	same := 0
	for same < len(x) && same < len(y) && bytes.Equal(x[same], y[same]) {
		same++
	}
	part := func(lines [][]byte) []byte {
		return bytes.Join(lines[min(len(lines), max(0, same-before)):min(len(lines), same+after)], []byte("\n"))
	}
	return fmt.Sprintf("line %d of %d and %d:\n%s\n--- and ---\n%s", same+1, len(x), len(y), part(x), part(y))
}

var residentMetric = regexp.MustCompile(`(?m)^process_resident_memory_bytes (\S+)$`)

// measure notes the memory that a server has now.
func (s *server) measure(ctx context.Context) error {
	raw, err := s.api.InferencecacheV1alpha1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return err
	}
	found := residentMetric.FindSubmatch(raw)
	if found == nil {
		return errors.New("the server does not show its resident memory")
	}
	value, err := strconv.ParseFloat(string(found[1]), 64)
	s.resident = append(s.resident, value)
	return err
}
