/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"inferencecache.io/inference-cache/pkg/storage/dirlock"
)

// start runs a server for the length of the test.
func start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// dial returns a client that is closed before the server.
func dial(t testing.TB, s *Server) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: s.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return c
}

func get(ctx context.Context, t testing.TB, c *clientv3.Client, key string) string {
	t.Helper()
	r, err := c.Get(ctx, key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if len(r.Kvs) == 0 {
		return ""
	}
	return string(r.Kvs[0].Value)
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStartServesAndKeepsData(t *testing.T) {
	longName := strings.Repeat("d", 120)
	tests := map[string]string{
		"plain directory":                   "data",
		"directory too long for a socket":   filepath.Join(longName, longName),
		"directory with a space and umlaut": "my däta",
		"directory that looks like a URL":   "a?b#01%41",
	}
	for name, sub := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), sub), UnsafeNoFsync: true, Logger: testr.New(t)}
			first, err := Start(t.Context(), cfg)
			if err != nil {
				t.Fatalf("start: %v", err)
			}
			c, err := clientv3.New(clientv3.Config{Endpoints: first.Endpoints()})
			if err != nil {
				t.Fatalf("dial: %v", err)
			}
			if _, err := c.Put(t.Context(), "k", "v"); err != nil {
				t.Fatalf("put: %v", err)
			}
			socket := first.socket
			if fi, err := os.Stat(filepath.Dir(socket)); err != nil || fi.Mode().Perm() != dirMode {
				t.Errorf("socket directory: mode %v, error %v, want mode %v", fi.Mode(), err, dirMode)
			}
			if err := errors.Join(c.Close(), first.Close(), first.Close()); err != nil {
				t.Fatalf("close: %v", err)
			}
			if _, err := os.Stat(filepath.Dir(socket)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("socket directory is left behind: %v", err)
			}

			second := start(t, cfg)
			if got := get(t.Context(), t, dial(t, second), "k"); got != "v" {
				t.Errorf("after restart k = %q, want %q", got, "v")
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, cfg *Config)
		want    string
	}{
		"no directory": {
			prepare: func(_ *testing.T, cfg *Config) { cfg.Dir = "" },
			want:    "data directory is not set",
		},
		"tiny quota": {
			prepare: func(_ *testing.T, cfg *Config) { cfg.QuotaBytes = 2048 },
			want:    "below the minimum",
		},
		"directory below a file": {
			prepare: func(t *testing.T, cfg *Config) {
				writeFile(t, cfg.Dir, "x")
				cfg.Dir = filepath.Join(cfg.Dir, "sub")
			},
			want: "make data directory",
		},
		"member of an unknown program": {
			prepare: func(t *testing.T, cfg *Config) {
				if err := os.MkdirAll(filepath.Join(cfg.Dir, etcdDir, memberDir), dirMode); err != nil {
					t.Fatal(err)
				}
			},
			want: "did not create",
		},
		"damaged identity": {
			prepare: func(t *testing.T, cfg *Config) { writeFile(t, filepath.Join(cfg.Dir, etcdDir, identityFile), "{") },
			want:    "is damaged",
		},
		"identity of a later format": {
			prepare: func(t *testing.T, cfg *Config) {
				writeFile(t, filepath.Join(cfg.Dir, etcdDir, identityFile), `{"format":2,"token":"a"}`)
			},
			want: "layout format 2",
		},
		"member of another directory": {
			prepare: func(t *testing.T, cfg *Config) {
				other := Config{Dir: filepath.Join(t.TempDir(), "other"), UnsafeNoFsync: true}
				for _, c := range []Config{other, *cfg} {
					s, err := Start(t.Context(), c)
					if err != nil {
						t.Fatal(err)
					}
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				to := filepath.Join(cfg.Dir, etcdDir, memberDir)
				if err := os.RemoveAll(to); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(filepath.Join(other.Dir, etcdDir, memberDir), to); err != nil {
					t.Fatal(err)
				}
			},
			want: "holds the data of etcd member",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true}
			tc.prepare(t, &cfg)
			s, err := Start(t.Context(), cfg)
			if err == nil {
				t.Fatalf("started; close: %v", s.Close())
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q does not say %q", err, tc.want)
			}
		})
	}
}

// A log that ends before the database keeps etcd from ever being ready.
func TestStartWithoutItsLogEnds(t *testing.T) {
	tests := map[string]struct {
		patience, deadline time.Duration
		want               string
	}{
		"patience ends": {patience: 500 * time.Millisecond, deadline: time.Minute, want: "may have lost its end"},
		"context ends":  {patience: time.Minute, deadline: 500 * time.Millisecond, want: "deadline exceeded"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := Config{Dir: t.TempDir(), UnsafeNoFsync: true, readyPatience: tc.patience}
			loseLog(t, cfg)
			ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
			defer cancel()
			for range 2 {
				// The second start shows that the first has given up the directory.
				s, err := Start(ctx, cfg)
				if err == nil {
					t.Fatalf("started; close: %v", s.Close())
				}
				if !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %q does not say %q", err, tc.want)
				}
			}
		})
	}
}

// loseLog makes a data directory with a database and without its log.
func loseLog(t *testing.T, cfg Config) {
	t.Helper()
	cfg.readyPatience = 0
	t.Run("write", func(t *testing.T) {
		c := dial(t, start(t, cfg))
		for range 100 {
			if _, err := c.Put(t.Context(), "k", "v"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := os.RemoveAll(filepath.Join(cfg.Dir, etcdDir, memberDir, "wal")); err != nil {
		t.Fatal(err)
	}
}

func TestSecondServerOnSameDirectory(t *testing.T) {
	cfg := Config{Dir: t.TempDir(), UnsafeNoFsync: true}
	first := start(t, cfg)
	s, err := Start(t.Context(), cfg)
	if err == nil {
		t.Fatalf("second server started; close: %v", s.Close())
	}
	if _, inUse := errors.AsType[*dirlock.InUseError](err); !inUse {
		t.Errorf("error is %v, want an InUseError", err)
	}
	// The loser must not have harmed the winner, whose socket it could see.
	if _, err := dial(t, first).Put(t.Context(), "k", "v"); err != nil {
		t.Errorf("first server no longer takes writes: %v", err)
	}
}

func TestNormalStopIsQuiet(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	log := funcr.New(func(prefix, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, prefix+args)
	}, funcr.Options{})
	s, err := Start(t.Context(), Config{Dir: t.TempDir(), UnsafeNoFsync: true, Logger: log})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: s.Endpoints(), Logger: zap.NewNop()})
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	if _, err := c.Put(t.Context(), "k", "v"); err != nil {
		t.Fatalf("put: %v", err)
	}
	if err := errors.Join(c.Close(), s.Close()); err != nil {
		t.Fatalf("close: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string(nil), lines); diff != "" {
		t.Errorf("start and stop at default verbosity logged (-want +got):\n%s", diff)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	s, err := Start(t.Context(), Config{Dir: t.TempDir(), UnsafeNoFsync: true, Registerer: reg})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	const want = `
# HELP inferencecache_embedded_etcd_alarm 1 while the embedded etcd has raised this alarm and refuses writes.
# TYPE inferencecache_embedded_etcd_alarm gauge
inferencecache_embedded_etcd_alarm{alarm="corrupt"} 0
inferencecache_embedded_etcd_alarm{alarm="nospace"} 0
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	// Merging with a registry that has process and Go collectors must work.
	merged := prometheus.Gatherers{prometheus.DefaultRegisterer.(prometheus.Gatherer), reg}
	if _, err := merged.Gather(); err != nil {
		t.Errorf("gather: %v", err)
	}
	own, err := Gatherer().Gather()
	if err != nil || len(own) == 0 {
		t.Errorf("etcd's own metrics: %d families, error %v", len(own), err)
	}
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	left, err := reg.Gather()
	if err != nil || len(left) != 0 {
		t.Errorf("after close: %d families, error %v, want none", len(left), err)
	}
}

func BenchmarkStart(b *testing.B) {
	b.ReportAllocs()
	dir := b.TempDir()
	for b.Loop() {
		s, err := Start(b.Context(), Config{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
