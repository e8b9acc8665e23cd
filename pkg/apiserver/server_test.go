/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/pkg/storage/dirlock"
	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

func clientset(t testing.TB, config *rest.Config) versioned.Interface {
	t.Helper()
	c, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func backend(name string) *v1alpha1.CacheBackend {
	return &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM},
	}
}

func create(t testing.TB, c versioned.Interface, name string) *v1alpha1.CacheBackend {
	t.Helper()
	created, err := c.InferencecacheV1alpha1().CacheBackends("default").Create(t.Context(), backend(name), metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create %s: %v", name, err)
	}
	return created
}

func TestRestartKeepsObjectsAndKubeconfig(t *testing.T) {
	dir := t.TempDir()
	first := apiservertest.Start(t, apiservertest.WithDataDir(dir))
	created := create(t, clientset(t, first.Config), "kept")
	token, err := os.ReadFile(first.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(first.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}

	second := apiservertest.Start(t, apiservertest.WithDataDir(dir))
	// The port is a free one and may differ; everything else of the client's
	// configuration has to be what it was.
	config, err := clientcmd.BuildConfigFromFlags("", second.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(string(token)), config.BearerToken); diff != "" {
		t.Error("the token changed")
	}
	if diff := cmp.Diff(string(ca), string(config.CAData)); diff != "" {
		t.Errorf("the CA changed (-first +second):\n%s", diff)
	}
	got, err := clientset(t, config).InferencecacheV1alpha1().CacheBackends("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("get after restart: %v", err)
	}
	if diff := cmp.Diff(created, got); diff != "" {
		t.Errorf("object changed (-created +got):\n%s", diff)
	}
}

func TestSecondServerOnSameDataDirectory(t *testing.T) {
	first := apiservertest.Start(t)
	second, err := apiservertest.Run(t.Context(), first.DataDir)
	if err == nil {
		t.Fatalf("second server started; stop: %v", second.Stop())
	}
	if _, ok := errors.AsType[*dirlock.InUseError](err); !ok {
		t.Fatalf("error is %v, want an InUseError", err)
	}
	if want := fmt.Sprintf("data directory %s is in use by another server (pid %d", first.DataDir, os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not say %q", err, want)
	}
	create(t, clientset(t, first.Config), "still-works")
}

// volatile matches what differs between two creations of the same object.
var volatile = regexp.MustCompile(`"(uid|creationTimestamp|time)":"[^"]+"`)

func TestStoredBytes(t *testing.T) {
	s := apiservertest.Start(t)
	created := create(t, clientset(t, s.Config), "stored")
	if err := s.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	etcd, err := embedded.Start(t.Context(), embedded.Config{Dir: s.DataDir, UnsafeNoFsync: true})
	if err != nil {
		t.Fatalf("open storage: %v", err)
	}
	defer etcd.Close()
	c, err := clientv3.New(clientv3.Config{Endpoints: etcd.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const key = "/inference-cache/inferencecache.io/cachebackends/default/stored"
	r, err := c.Get(t.Context(), key)
	if err != nil || len(r.Kvs) != 1 {
		t.Fatalf("get %s: %d values, error %v", key, len(r.Kvs), err)
	}
	stored := string(r.Kvs[0].Value)
	if !strings.Contains(stored, string(created.UID)) {
		t.Errorf("%s holds another object", key)
	}
	golden(t, "testdata/cachebackend.stored.json", volatile.ReplaceAllString(stored, `"$1":"…"`))
}

// golden compares with a file, or writes it when UPDATE_GOLDEN is set.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestGeneratedNamesAndLists(t *testing.T) {
	s := apiservertest.Start(t)
	backends := clientset(t, s.Config).InferencecacheV1alpha1().CacheBackends("default")
	for range 5 {
		b := backend("")
		b.GenerateName = "generated-"
		if _, err := backends.Create(t.Context(), b, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]bool{}
	options := metav1.ListOptions{Limit: 2}
	for {
		list, err := backends.List(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(obj runtime.Object) error {
			names[obj.(*v1alpha1.CacheBackend).Name] = true
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if options.Continue = list.Continue; options.Continue == "" {
			break
		}
	}
	if len(names) != 5 {
		t.Errorf("listed %d names in pages, want 5: %v", len(names), names)
	}
}

func TestMetrics(t *testing.T) {
	s := apiservertest.Start(t)
	got := get(t, client(t, s), s.Config.Host+"/metrics", "Authorization", "Bearer "+s.Token)
	if got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	families := map[string]int{}
	for line := range strings.Lines(got.body) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			families[strings.Fields(rest)[0]]++
		}
	}
	for _, want := range []string{
		"apiserver_request_total",                // the library's registry
		"inferencecache_lookup_duration_seconds", // ours
		"inferencecache_embedded_etcd_alarm",     // ours, from the storage
		"etcd_mvcc_db_total_size_in_bytes",       // etcd's own
		"go_goroutines", "process_resident_memory_bytes",
	} {
		if families[want] == 0 {
			t.Errorf("no metric %s", want)
		}
	}
	for name, n := range families {
		if n > 1 {
			t.Errorf("metric %s is there %d times", name, n)
		}
	}
}

func TestReadinessHasNoDataInIt(t *testing.T) {
	s := apiservertest.Start(t)
	got := get(t, client(t, s), s.Config.Host+"/readyz?verbose", "Authorization", "Bearer "+s.Token)
	if got.status != http.StatusOK {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	for _, want := range []string{"[+]etcd ok", "[+]etcd-readiness ok", "[+]poststarthook/inference-cache-grpc ok", "[+]poststarthook/inference-cache-informers ok",
		"[+]poststarthook/inference-cache-reservations ok"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("readiness does not say %q:\n%s", want, got.body)
		}
	}
}
