//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// ledger is the file in which the cluster writes down what the manager asks of it.
type ledger struct{ file string }

// calls are requests of the manager, counted by verb and resource.
type calls map[string]int

// end is where the ledger ends now.
func (l ledger) end(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(l.file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// since counts what was written behind a place of the ledger.
func (l ledger) since(t *testing.T, place int64) calls {
	t.Helper()
	file, err := os.Open(l.file)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Seek(place, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	counted := calls{}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return counted // the last line may be half written
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		call := event.Verb
		if object := event.ObjectRef; object != nil {
			call = strings.TrimSuffix(call+" "+object.Resource+"/"+object.Subresource, "/")
		}
		counted[call]++
	}
}

func (c calls) total() int {
	sum := 0
	for _, n := range c {
		sum += n
	}
	return sum
}

// String lists the calls, the most frequent first.
func (c calls) String() string {
	var parts []string
	for _, call := range slices.SortedFunc(maps.Keys(c), func(a, b string) int { return c[b] - c[a] }) {
		parts = append(parts, fmt.Sprintf("%d %s", c[call], call))
	}
	return strings.Join(parts, ", ")
}

// memory returns what the kernel says the manager has in memory, and the most that it
// has had, with their units.
func (m *managed) memory(t *testing.T) (now, most string) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", m.ID()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			now = strings.TrimSpace(value)
		} else if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			most = strings.TrimSpace(value)
		}
	}
	return now, most
}

// pass lets time go by.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// poll tries until it succeeds, or long after everything should have happened; the
// error is the last one. It tries the less often the larger the fleet is, since every
// try reads all of it.
func poll(ctx context.Context, try func() error) error {
	each := time.Duration(*backends) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute+1000*each)
	defer cancel()
	ticker := time.NewTicker(100*time.Millisecond + each)
	defer ticker.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-ticker.C:
		}
	}
}

// await is poll for what the test cannot go on without.
func await(t *testing.T, try func() error) {
	t.Helper()
	if err := poll(t.Context(), try); err != nil {
		t.Fatal(err)
	}
}
