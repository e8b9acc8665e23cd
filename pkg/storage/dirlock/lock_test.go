/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dirlock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAcquire(t *testing.T) {
	dir := t.TempDir()
	first, err := Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(dir)
	var inUse *InUseError
	if !errors.As(err, &inUse) {
		t.Fatalf("second lock: %v, want an InUseError", err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want := &InUseError{Dir: dir, Holder: fmt.Sprintf("pid %d on %s", os.Getpid(), host)}
	if diff := cmp.Diff(want, inUse); diff != "" {
		t.Errorf("wrong error (-want +got):\n%s", diff)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestAcquireFails(t *testing.T) {
	if _, err := Acquire(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("locked a directory that does not exist")
	}
}

func TestInUseError(t *testing.T) {
	tests := map[string]struct {
		content, want string
	}{
		"named holder":     {content: "pid 7 on a\n", want: "data directory D is in use by another server (pid 7 on a)"},
		"not written yet":  {content: "", want: "data directory D is in use by another server (pid unknown)"},
		"first line only":  {content: "pid 7 on a\nmore\n", want: "data directory D is in use by another server (pid 7 on a)"},
		"without line end": {content: "pid 7 on a", want: "data directory D is in use by another server (pid 7 on a)"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := &InUseError{Dir: "D", Holder: readHolder(strings.NewReader(tc.content))}
			if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
				t.Errorf("wrong text (-want +got):\n%s", diff)
			}
		})
	}
}
