/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// eventually polls until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within two minutes: %s", what)
		case <-tick.C:
		}
	}
}

// fill writes values of 100 kB under n keys, over and over, until there is no space.
func fill(t *testing.T, c *clientv3.Client, n int) {
	t.Helper()
	value := strings.Repeat("v", 100_000)
	var err error
	for i := 0; err == nil && i < 2000; i++ {
		_, err = c.Put(t.Context(), testPrefix+strconv.Itoa(i%n), value)
	}
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatalf("last write ended with %v, want %v", err, rpctypes.ErrNoSpace)
	}
}

// writable reports whether a write succeeds.
func writable(t *testing.T, c *clientv3.Client) bool {
	t.Helper()
	_, err := c.Put(t.Context(), testPrefix+"small", "v")
	if err != nil && !errors.Is(err, rpctypes.ErrNoSpace) {
		t.Fatal(err)
	}
	return err == nil
}

// alarmMetric reads the metric of the space alarm.
func alarmMetric(t *testing.T, s *Server) float64 {
	t.Helper()
	return testutil.ToFloat64(s.collectors()[0])
}

// told collects what a server says about its space.
type told struct {
	mu  sync.Mutex
	all []Space
}

func (l *told) add(s Space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, s)
}

// check fails if something else was told than that the space is exhausted and that
// it came back, in the given order.
func (l *told) check(t *testing.T, quota int64, exhausted ...bool) {
	t.Helper()
	var all []Space
	eventually(t, "all is told", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		all = slices.Clone(l.all)
		return len(all) >= len(exhausted)
	})
	var got []bool
	for _, space := range all {
		got = append(got, space.Exhausted)
		if space.QuotaBytes != quota || space.Bytes <= 0 {
			t.Errorf("told of %d bytes of a quota of %d, want some of %d", space.Bytes, space.QuotaBytes, quota)
		}
	}
	if diff := cmp.Diff(exhausted, got); diff != "" {
		t.Errorf("told of other changes (-want +got):\n%s", diff)
	}
}

// TestHistoryFillsQuota shows that a server heals itself when old versions fill its
// quota.
func TestHistoryFillsQuota(t *testing.T) {
	s := start(t, Config{Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 4 << 20, UnsafeNoFsync: true, Logger: testr.New(t)})
	c := dial(t, s)
	fill(t, c, 5)
	eventually(t, "writes go on", func() bool { return writable(t, c) })
	if got := alarmMetric(t, s); got != 0 {
		t.Errorf("metric of the alarm is %v after it was lifted", got)
	}
}

// TestObjectsFillQuota shows that the alarm stays while the space is needed, and ends
// when the user deletes something.
func TestObjectsFillQuota(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	said := &told{}
	s := start(t, Config{
		Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 4 << 20, UnsafeNoFsync: true, Logger: testr.New(t), Registerer: reg, OnSpace: said.add,
	})
	c := dial(t, s)
	fill(t, c, 2000)
	if got := alarmMetric(t, s); got != 1 {
		t.Errorf("metric of the alarm is %v, want 1", got)
	}
	u := newUpkeep(s)
	u.look(t.Context(), time.Now())
	if writable(t, c) {
		t.Error("the alarm was lifted without space")
	}
	size := s.etcd.Server.Backend().Size()
	u.look(t.Context(), time.Now())
	if got := s.etcd.Server.Backend().Size(); got != size {
		t.Errorf("defragmented in vain: %d bytes before, %d after", size, got)
	}
	if _, err := c.Delete(t.Context(), testPrefix, clientv3.WithPrefix()); err != nil {
		t.Fatalf("delete under the alarm: %v", err)
	}
	eventually(t, "writes go on", func() bool { return writable(t, c) })
	if got := alarmMetric(t, s); got != 0 {
		t.Errorf("metric of the alarm is %v after it was lifted", got)
	}
	said.check(t, 4<<20, true, false)
}

// TestStartUnderAlarm shows that a start tells of an alarm that is still on, and of
// the end of one.
func TestStartUnderAlarm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	runs := []struct {
		name  string
		quota int64
		want  []bool
	}{
		{name: "used up", quota: 4 << 20, want: []bool{true}},
		{name: "still used up", quota: 4 << 20, want: []bool{true}},
		{name: "raised", quota: 16 << 20, want: []bool{false}},
		{name: "nothing new", quota: 16 << 20},
	}
	for i, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			said := &told{}
			s := start(t, Config{Dir: dir, QuotaBytes: r.quota, UnsafeNoFsync: true, Logger: testr.New(t), OnSpace: said.add})
			if i == 0 {
				fill(t, dial(t, s), 2000)
			}
			said.check(t, r.quota, r.want...)
		})
	}
}

// waste makes a database that is mostly free space.
func waste(t testing.TB, s *Server, c *clientv3.Client, keys int) {
	t.Helper()
	value := strings.Repeat("v", 100_000)
	for i := range keys {
		if _, err := c.Put(t.Context(), testPrefix+strconv.Itoa(i), value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Delete(t.Context(), testPrefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	if err := s.compactAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Pages that a commit frees count as used until a later one has no reader that
	// began before it.
	be := s.etcd.Server.Backend()
	for range 1000 {
		if _, err := c.Put(t.Context(), testPrefix, "v"); err != nil {
			t.Fatal(err)
		}
		be.ForceCommit()
		if float64(be.SizeInUse()) < defragUsedShare*float64(be.Size()) {
			return
		}
	}
	t.Fatalf("%d of %d bytes are in use after everything was deleted and compacted", be.SizeInUse(), be.Size())
}

func TestTidy(t *testing.T) {
	s := start(t, Config{Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 16 << 20, UnsafeNoFsync: true, Logger: testr.New(t)})
	c := dial(t, s)
	waste(t, s, c, 100)
	be := s.etcd.Server.Backend()
	size := be.Size()
	u := newUpkeep(s)
	begin := u.defragmented

	u.look(t.Context(), begin.Add(defragInterval-1))
	if got := be.Size(); got != size {
		t.Errorf("defragmented before the interval was over: %d bytes before, %d after", size, got)
	}
	s.copying.RLock()
	u.look(t.Context(), begin.Add(defragInterval))
	s.copying.RUnlock()
	if got := be.Size(); got != size {
		t.Errorf("defragmented while a snapshot is sent: %d bytes before, %d after", size, got)
	}
	u.look(t.Context(), begin.Add(defragInterval+1))
	if got := be.Size(); got >= size/2 {
		t.Errorf("not defragmented: %d bytes before, %d after", size, got)
	}
	if !writable(t, c) {
		t.Error("no writes after defragmenting")
	}
	size = be.Size()
	u.look(t.Context(), begin.Add(3*defragInterval))
	if got := be.Size(); got != size {
		t.Errorf("defragmented without need: %d bytes before, %d after", size, got)
	}
}

// TestDefragmentAtStart shows that a start does what a running server puts off.
func TestDefragmentAtStart(t *testing.T) {
	cfg := Config{Dir: filepath.Join(t.TempDir(), "data"), QuotaBytes: 16 << 20, UnsafeNoFsync: true, Logger: testr.New(t)}
	var size int64
	t.Run("before", func(t *testing.T) {
		s := start(t, cfg)
		waste(t, s, dial(t, s), 100)
		size = s.etcd.Server.Backend().Size()
	})
	if got := start(t, cfg).etcd.Server.Backend().Size(); got >= size/2 {
		t.Errorf("not defragmented: %d bytes before, %d after", size, got)
	}
}

// TestCopyIsNoted holds that a snapshot under way is seen, from its first byte to
// its last.
func TestCopyIsNoted(t *testing.T) {
	s := start(t, Config{Dir: filepath.Join(t.TempDir(), "data"), UnsafeNoFsync: true})
	c := dial(t, s)
	// More than the buffers of a connection hold, so that the server has to wait.
	value := strings.Repeat("v", 1_000_000)
	for i := range 20 {
		if _, err := c.Put(t.Context(), testPrefix+strconv.Itoa(i), value); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := c.SnapshotWithVersion(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.defragment(); !errors.Is(err, errCopying) {
		t.Errorf("defragment during a copy: %v, want %v", err, errCopying)
	}
	if _, err := io.Copy(io.Discard, answer.Snapshot); err != nil {
		t.Fatal(err)
	}
	eventually(t, "defragment after the copy", func() bool { return s.defragment() == nil })
}

func TestFragmented(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct {
		size, used, quota int64
		want              bool
	}{
		"small":                       {size: 60 * mib, used: mib, quota: 2048 * mib},
		"large and free":              {size: 65 * mib, used: 32 * mib, quota: 2048 * mib, want: true},
		"large and in use":            {size: 65 * mib, used: 33 * mib, quota: 2048 * mib},
		"half of a small quota":       {size: 8 * mib, used: mib, quota: 16 * mib},
		"above half of a small quota": {size: 9 * mib, used: mib, quota: 16 * mib, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fragmented(tc.size, tc.used, tc.quota); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// BenchmarkDefragment measures for how long a running server stands still. The
// pause grows with what is in use, here 64 MiB.
func BenchmarkDefragment(b *testing.B) {
	b.ReportAllocs()
	s := start(b, Config{Dir: filepath.Join(b.TempDir(), "data")})
	c := dial(b, s)
	value := strings.Repeat("v", 4<<10)
	for i := range 64 << 20 / len(value) / 64 {
		var puts []clientv3.Op
		for j := range 64 {
			puts = append(puts, clientv3.OpPut(testPrefix+strconv.Itoa(i*64+j), value))
		}
		if _, err := c.Txn(b.Context()).Then(puts...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := s.defragment(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.etcd.Server.Backend().SizeInUse())/(1<<20), "MiB-in-use")
}
