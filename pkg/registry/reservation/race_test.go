/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// TestOneWinner lets two servers create and change objects at once.
func TestOneWinner(t *testing.T) {
	f := newFixture(t)
	const writers = 40
	for i := range writers / 4 {
		f.must(f.create(f.second, fmt.Sprintf("old-%d", i), fmt.Sprintf("old-%d", i)))
	}
	errs := make([]error, writers)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			s := []*Storage{f.first, f.second}[i%2]
			switch {
			case i < writers/4:
				errs[i] = f.update(s, fmt.Sprintf("old-%d", i), "x", nil)
			case i < writers/2:
				errs[i] = f.update(s, fmt.Sprintf("applied-%d", i), "x", nil)
			default:
				errs[i] = f.create(s, fmt.Sprintf("new-%d", i), "x")
			}
		})
	}
	group.Wait()
	won := 0
	for i, err := range errs {
		switch {
		case err == nil:
			won++
		case !apierrors.IsInvalid(err):
			t.Errorf("writer %d: %v, want that it is refused", i, err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won", won)
	}
	got := f.state()
	want := map[string]string{}
	for name, value := range got.Objects {
		want[value] = name
	}
	if len(want) != len(got.Objects) {
		t.Errorf("a value is claimed twice: %v", got.Objects)
	}
	if diff := cmp.Diff(want, got.Holdings); diff != "" {
		t.Errorf("reservations (-claimed +held):\n%s", diff)
	}
}

// TestWriterIsAwaited lets a second writer meet a first one between reservation
// and write.
func TestWriterIsAwaited(t *testing.T) {
	conflict := storage.NewResourceVersionConflictsError("/a", 1)
	tests := map[string]struct {
		// first is how the write of the first ends.
		first  error
		second string
		want   state
	}{
		"first succeeds": {
			second: duplicate("b", "x", "a"),
			want:   state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"first fails": {
			first: conflict,
			want:  state{Objects: map[string]string{"b": "x"}, Holdings: map[string]string{"x": "b"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			// Only what the test does may end the wait.
			f.second.ledger.wait = time.Hour
			second := make(chan error, 1)
			f.objects.beforeCreate = func() error {
				go func() { second <- f.create(f.second, "b", "x") }()
				// Whoever cannot wait is told so, and that nothing is decided yet.
				if err := f.busy(); !apierrors.IsTooManyRequests(err) {
					t.Errorf("check while the value is written: %v, want too many requests", err)
				}
				return test.first
			}
			if err := f.create(f.first, "a", "x"); !errors.Is(err, test.first) {
				t.Errorf("first ended with %v, want %v", err, test.first)
			}
			if diff := cmp.Diff(test.second, text(<-second)); diff != "" {
				t.Errorf("second (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.want, f.state()); diff != "" {
				t.Errorf("etcd (-want +got):\n%s", diff)
			}
		})
	}
}

// busy checks the value without patience.
func (f *fixture) busy() error {
	impatient := f.wrap(f.objects)
	impatient.ledger.wait = time.Millisecond
	return impatient.Check(f.Context(), tenant("c", "x"))
}

// TestLateWriteEnds holds that a write ends before its guard does.
func TestLateWriteEnds(t *testing.T) {
	f := newFixture(t)
	f.first.ledger.write = 0
	f.first.Interface = blocked{f.objects}
	err := f.create(f.first, "a", "x")
	if !apierrors.IsTimeout(err) {
		t.Errorf("error is %v, want a timeout", err)
	}
	want := state{Objects: map[string]string{}, Holdings: map[string]string{"x": "a*"}}
	if diff := cmp.Diff(want, f.state()); diff != "" {
		t.Errorf("etcd (-want +got):\n%s", diff)
	}
}

// blocked is a storage that takes until the context ends.
type blocked struct{ storage.Interface }

func (blocked) Create(ctx context.Context, _ string, _, _ runtime.Object, _ uint64) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestGuardOutlivesWrite(t *testing.T) {
	// What etcd says of its own patience, with its default election timeout.
	const etcdRequestTimeout = 7 * time.Second
	if guardTTL < writeTimeout+etcdRequestTimeout {
		t.Errorf("a guard of %v may end before a write that may take %v and another %v in etcd", guardTTL, writeTimeout, etcdRequestTimeout)
	}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		name, id string
		before   func(*fixture)
		want     string
	}{
		"nothing":  {name: "b"},
		"free":     {name: "b", id: "y"},
		"own":      {name: "a", id: "x"},
		"another":  {name: "b", id: "x", want: duplicate("b", "x", "a")},
		"leftover": {name: "b", id: "z", before: func(f *fixture) { f.leftover("z", "gone") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.must(f.create(f.first, "a", "x"))
			if test.before != nil {
				test.before(f)
			}
			before := f.state()
			err := f.second.Check(t.Context(), tenant(test.name, test.id))
			if diff := cmp.Diff(test.want, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, f.state()); diff != "" {
				t.Errorf("a check has changed etcd (-before +after):\n%s", diff)
			}
		})
	}
}

func TestRepair(t *testing.T) {
	f := newFixture(t)
	f.must(f.create(f.first, "kept", "kept"))
	f.must(f.create(f.objects, "unreserved", "unreserved"))
	f.must(f.create(f.objects, "stolen", "stolen"))
	f.leftover("stolen", "gone")
	f.leftover("leftover", "gone")
	f.leftover("changed", "kept")
	f.must(f.create(f.objects, "twice-1", "twice"))
	f.must(f.create(f.objects, "twice-2", "twice"))
	f.must(f.create(f.objects, "nothing", ""))
	for range 2 {
		if err := f.second.Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"kept": "kept", "unreserved": "unreserved", "stolen": "stolen", "twice": "twice-1"}
		if diff := cmp.Diff(want, f.state().Holdings); diff != "" {
			t.Errorf("reservations (-want +got):\n%s", diff)
		}
	}
	// With the first of the two gone, the value is the other's.
	f.must(f.remove(f.first, "twice-1"))
	f.must(f.second.Repair(t.Context()))
	if got := f.state().Holdings["twice"]; got != "twice-2" {
		t.Errorf("value is held by %q, want twice-2", got)
	}
}

func TestRepairReportsWhatItCannotRead(t *testing.T) {
	f := newFixture(t)
	_, err := f.etcd.Put(t.Context(), f.first.ledger.keys.holding("broken"), "{")
	f.must(err)
	f.must(f.create(f.objects, "a", "x"))
	if err := f.first.Repair(t.Context()); err == nil {
		t.Error("a reservation that cannot be read is no error")
	}
	e, err := f.first.ledger.read(t.Context(), "x")
	if err != nil || e.holder == nil {
		t.Errorf("the value behind the broken one is not held: %+v, %v", e, err)
	}
}
