/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/storage"
)

// text returns the text of an error, or nothing.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestWrites plays histories and looks at etcd afterwards.
func TestWrites(t *testing.T) {
	died := func() error { return context.DeadlineExceeded }
	tests := map[string]struct {
		// before prepares, write is the write that is looked at, err a part of its
		// error.
		before func(*fixture)
		write  func(*fixture) error
		err    string
		want   state
	}{
		"create": {
			write: func(f *fixture) error { return f.create(f.first, "a", "x") },
			want:  state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"value with every kind of character": {
			write: func(f *fixture) error { return f.create(f.first, "a", "Team A/ü%2F../..") },
			want:  state{Objects: map[string]string{"a": "Team A/ü%2F../.."}, Holdings: map[string]string{"Team A/ü%2F../..": "a"}},
		},
		"object without a claim": {
			write: func(f *fixture) error { return f.create(f.first, "a", "") },
			want:  state{Objects: map[string]string{"a": ""}, Holdings: map[string]string{}},
		},
		"create what another has": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.create(f.first, "b", "x") },
			err:    duplicate("b", "x", "a"),
			want:   state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"create what is there, same value": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.create(f.first, "a", "x") },
			err:    storage.NewKeyExistsError(keyOf("a"), 0).Error(),
			want:   state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"create what is there, other value": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.create(f.first, "a", "y") },
			err:    storage.NewKeyExistsError("/test/tenants/ns/a", 0).Error(),
			want:   state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"update creates": {
			write: func(f *fixture) error { return f.update(f.first, "a", "x", nil) },
			want:  state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"update that changes nothing": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.update(f.first, "a", "x", nil) },
			want:   state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"update to another value": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.update(f.first, "a", "y", nil) },
			want:   state{Objects: map[string]string{"a": "y"}, Holdings: map[string]string{"y": "a"}},
		},
		"update to no value": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.update(f.first, "a", "", nil) },
			want:   state{Objects: map[string]string{"a": ""}, Holdings: map[string]string{}},
		},
		"update to what another has": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")); f.must(f.create(f.second, "b", "y")) },
			write:  func(f *fixture) error { return f.update(f.first, "b", "x", nil) },
			err:    duplicate("b", "x", "a"),
			want:   state{Objects: map[string]string{"a": "x", "b": "y"}, Holdings: map[string]string{"x": "a", "y": "b"}},
		},
		"two updates to one value": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write: func(f *fixture) error {
				return f.update(f.first, "a", "y", func() { f.must(f.update(f.second, "a", "y", nil)) })
			},
			want: state{Objects: map[string]string{"a": "y"}, Holdings: map[string]string{"y": "a"}},
		},
		"two updates to two values": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write: func(f *fixture) error {
				return f.update(f.first, "a", "y", func() { f.must(f.update(f.second, "a", "z", nil)) })
			},
			want: state{Objects: map[string]string{"a": "y"}, Holdings: map[string]string{"y": "a"}},
		},
		"creation by update meets another": {
			write: func(f *fixture) error {
				return f.update(f.first, "a", "x", func() { f.must(f.create(f.second, "a", "x")) })
			},
			want: state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"update of what is deleted meanwhile": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write: func(f *fixture) error {
				return f.update(f.first, "a", "y", func() { f.must(f.remove(f.second, "a")) })
			},
			want: state{Objects: map[string]string{"a": "y"}, Holdings: map[string]string{"y": "a"}},
		},
		"delete": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")) },
			write:  func(f *fixture) error { return f.remove(f.first, "a") },
			want:   state{Objects: map[string]string{}, Holdings: map[string]string{}},
		},
		"value of a deleted object": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")); f.must(f.remove(f.second, "a")) },
			write:  func(f *fixture) error { return f.create(f.first, "b", "x") },
			want:   state{Objects: map[string]string{"b": "x"}, Holdings: map[string]string{"x": "b"}},
		},
		"server dies before it writes": {
			before: func(f *fixture) { f.objects.beforeCreate = died },
			write:  func(f *fixture) error { return f.create(f.first, "a", "x") },
			err:    "context deadline exceeded",
			want:   state{Objects: map[string]string{}, Holdings: map[string]string{"x": "a*"}},
		},
		"after a death before the write": {
			before: func(f *fixture) {
				f.objects.beforeCreate = died
				_ = f.create(f.first, "a", "x")
				f.endLeases()
			},
			write: func(f *fixture) error { return f.create(f.second, "b", "x") },
			want:  state{Objects: map[string]string{"b": "x"}, Holdings: map[string]string{"x": "b"}},
		},
		"after a death before the write, same object": {
			before: func(f *fixture) {
				f.objects.beforeCreate = died
				_ = f.create(f.first, "a", "x")
				f.endLeases()
			},
			write: func(f *fixture) error { return f.create(f.second, "a", "x") },
			want:  state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"after a death after the write": {
			before: func(f *fixture) {
				f.objects.afterCreate = died
				_ = f.create(f.first, "a", "x")
				f.endLeases()
			},
			write: func(f *fixture) error { return f.create(f.second, "b", "x") },
			err:   duplicate("b", "x", "a"),
			want:  state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"after a death after a deletion": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")); f.must(f.remove(f.objects, "a")) },
			write:  func(f *fixture) error { return f.create(f.second, "b", "x") },
			want:   state{Objects: map[string]string{"b": "x"}, Holdings: map[string]string{"x": "b"}},
		},
		"after a death after a change": {
			before: func(f *fixture) {
				f.must(f.create(f.second, "a", "x"))
				f.must(f.update(f.second, "a", "y", nil))
				f.leftover("x", "a")
			},
			write: func(f *fixture) error { return f.create(f.second, "b", "x") },
			want:  state{Objects: map[string]string{"a": "y", "b": "x"}, Holdings: map[string]string{"y": "a", "x": "b"}},
		},
		"back to the value before": {
			before: func(f *fixture) {
				f.must(f.create(f.second, "a", "x"))
				f.must(f.update(f.second, "a", "y", nil))
				f.leftover("x", "a")
			},
			write: func(f *fixture) error { return f.update(f.second, "a", "x", nil) },
			want:  state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"guard ends before the write": {
			write: func(f *fixture) error {
				f.objects.beforeCreate = func() error { f.endLeases(); return nil }
				return f.create(f.first, "a", "x")
			},
			want: state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"guard ends and the leftover is dropped before the write": {
			write: func(f *fixture) error {
				f.objects.beforeCreate = func() error { f.endLeases(); return f.second.Repair(f.Context()) }
				return f.create(f.first, "a", "x")
			},
			want: state{Objects: map[string]string{"a": "x"}, Holdings: map[string]string{"x": "a"}},
		},
		"object is too large for etcd": {
			write: func(f *fixture) error { return f.createLarge(f.first, "a", "x", 1_800_000) },
			err:   "etcdserver: request is too large",
			want:  state{Objects: map[string]string{}, Holdings: map[string]string{}},
		},
		"object is too large for a message": {
			write: func(f *fixture) error { return f.createLarge(f.first, "a", "x", 2_097_152) },
			err:   "code = ResourceExhausted",
			want:  state{Objects: map[string]string{}, Holdings: map[string]string{}},
		},
		"deletion while a leftover is taken over": {
			before: func(f *fixture) { f.must(f.create(f.second, "a", "x")); f.must(f.remove(f.objects, "a")) },
			write: func(f *fixture) error {
				f.objects.beforeCreate = func() error { f.second.drop(f.Context(), "x"); return nil }
				return f.create(f.first, "b", "x")
			},
			want: state{Objects: map[string]string{"b": "x"}, Holdings: map[string]string{"x": "b"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if test.before != nil {
				test.before(f)
			}
			err := test.write(f)
			if (err == nil) != (test.err == "") || !strings.Contains(text(err), test.err) {
				t.Errorf("error is %v, want %q", err, test.err)
			}
			if diff := cmp.Diff(test.want, f.state()); diff != "" {
				t.Errorf("etcd (-want +got):\n%s", diff)
			}
		})
	}
}
