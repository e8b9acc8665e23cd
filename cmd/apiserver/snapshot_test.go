/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// save runs "snapshot save" to its end.
func save(t *testing.T, dir, file string, more ...string) {
	t.Helper()
	out, err := output(t, append([]string{"snapshot", "save", "--data-dir=" + dir, "--output=" + file}, more...)...)
	if err != nil || !strings.Contains(out, "Saved "+dir) {
		t.Fatalf("save: %v\n%s", err, out)
	}
}

// restore runs "snapshot restore" to its end.
func restore(t *testing.T, file, dir string) {
	t.Helper()
	out, err := output(t, "snapshot", "restore", "--data-dir="+dir, "--input="+file)
	if err != nil || !strings.Contains(out, "Restored "+file) {
		t.Fatalf("restore: %v\n%s", err, out)
	}
}

// newest returns all backends, and the highest version that the answer has, as a number.
func newest(t *testing.T, c versioned.Interface) (map[string]bool, uint64) {
	t.Helper()
	list, err := c.InferencecacheV1alpha1().CacheBackends("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	highest, err := strconv.ParseUint(list.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for i := range list.Items {
		there[list.Items[i].Name] = true
	}
	return there, highest
}

// TestSnapshotWhileWriting saves from a server that is written to, and goes on with
// the last snapshot in another directory.
func TestSnapshotWhileWriting(t *testing.T) {
	from, files := t.TempDir(), t.TempDir()
	p := startStandalone(t, from)
	c := p.client(t)
	written := make(chan struct{}, 4096)
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	l := &ledger{acknowledged: map[string]bool{}}
	for w := range 2 {
		writers.Go(func() { l.write(ctx, c, fmt.Sprintf("w%d", w), written) })
	}
	var before map[string]bool
	file := ""
	for i := range 3 {
		for range 20 {
			<-written
		}
		l.mu.Lock()
		before = maps.Clone(l.acknowledged)
		l.mu.Unlock()
		file = filepath.Join(files, fmt.Sprint(i))
		save(t, from, file)
	}
	cancel()
	writers.Wait()
	_, seen := newest(t, c)
	if err := p.stop(t); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.stderr.String())
	}

	to := filepath.Join(t.TempDir(), "new")
	restore(t, file, to)
	p = startStandalone(t, to)
	c = p.client(t)
	there, now := newest(t, c)
	for name, exists := range before {
		// What exists may have been deleted while the copy was made; the other way
		// round is impossible, as no name is used twice.
		if !exists && there[name] {
			t.Errorf("%s was deleted before the save and is back", name)
		}
		if exists && !there[name] && !deletedLater(l, name) {
			t.Errorf("%s was created before the save and is lost", name)
		}
	}
	if now <= seen {
		t.Errorf("resourceVersion %d after the restore, %d before", now, seen)
	}
	requireExpired(t, c, seen)
	made, err := c.InferencecacheV1alpha1().CacheBackends("default").Create(t.Context(), backend("after"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if version, err := strconv.ParseUint(made.ResourceVersion, 10, 64); err != nil || version <= now {
		t.Errorf("a new object has resourceVersion %s, error %v, want more than %d", made.ResourceVersion, err, now)
	}
}

// requireExpired holds that a watch cannot go on from a version of the former server.
func requireExpired(t *testing.T, c versioned.Interface, version uint64) {
	t.Helper()
	options := metav1.ListOptions{ResourceVersion: strconv.FormatUint(version, 10)}
	w, err := c.InferencecacheV1alpha1().CacheBackends("default").Watch(t.Context(), options)
	if err == nil {
		defer w.Stop()
		event := <-w.ResultChan()
		err = apierrors.FromObject(event.Object)
	}
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		t.Errorf("watch from version %d of the former server: %v, want that it has expired", version, err)
	}
}

// deletedLater reports whether a name is not one of an object that exists.
func deletedLater(l *ledger, name string) bool {
	exists, known := l.acknowledged[name]
	return !known || !exists
}

func backend(name string) *v1alpha1.CacheBackend {
	return &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM},
	}
}

// TestKillSave kills a save at one point of its work after the other. A file that is
// there afterwards can be restored.
func TestKillSave(t *testing.T) {
	from, files := t.TempDir(), t.TempDir()
	startStandalone(t, from)
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	complete := 0
	for round := 0; complete < 3 && round < 200; round++ {
		file := filepath.Join(files, "snapshot")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "snapshot", "save", "--data-dir="+from, "--output="+file)
		cmd.Env = append(os.Environ(), runAsServer+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			// It was killed, or it was not.
			_ = cmd.Wait()
			close(done)
		}()
		for range round * 8 {
			select {
			case <-done:
			case <-tick.C:
			}
		}
		// The error says that it has ended.
		_ = cmd.Process.Kill()
		<-done
		entries, err := os.ReadDir(files)
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 {
			continue
		}
		complete++
		restore(t, file, filepath.Join(t.TempDir(), "new"))
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(files); err != nil || len(entries) > 0 {
			t.Fatalf("left behind: %v, error %v", entries, err)
		}
	}
	if complete == 0 {
		t.Error("no save was complete")
	}
}

func TestSnapshotCommandLine(t *testing.T) {
	from, files := t.TempDir(), t.TempDir()
	p := startStandalone(t, from)
	if err := p.stop(t); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(files, "snapshot")
	save(t, from, file)
	save(t, from, file, "--force")
	cut := filepath.Join(files, "cut")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, content[:len(content)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v, want 0600", info.Mode(), err)
	}
	absent := filepath.Join(files, "absent")
	tests := map[string]struct {
		args  []string
		fails bool
		want  string
	}{
		"help":                  {args: nil, want: "restore  make a new data directory"},
		"help of save":          {args: []string{"save", "--help"}, want: "--output"},
		"unknown command":       {args: []string{"copy"}, fails: true, want: "unknown command \"copy\""},
		"save without flags":    {args: []string{"save"}, fails: true, want: "--output: required"},
		"save over a file":      {args: []string{"save", "--data-dir=" + from, "--output=" + file}, fails: true, want: "or --force to replace it"},
		"save of nothing":       {args: []string{"save", "--data-dir=" + files, "--output=" + absent}, fails: true, want: "has no embedded etcd"},
		"restore over a server": {args: []string{"restore", "--data-dir=" + from, "--input=" + file}, fails: true, want: "is not empty"},
		"restore of a part":     {args: []string{"restore", "--data-dir=" + absent, "--input=" + cut}, fails: true, want: "it was cut short"},
		"restore of nothing":    {args: []string{"restore", "--data-dir=" + absent, "--input=" + absent}, fails: true, want: "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, err := output(t, append([]string{"snapshot"}, tc.args...)...)
			if (err != nil) != tc.fails {
				t.Errorf("ended with %v, want an error: %t", err, tc.fails)
			}
			if !strings.Contains(out, tc.want) {
				t.Errorf("does not say %q:\n%s", tc.want, out)
			}
			if _, err := os.Stat(absent); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", absent, err)
			}
		})
	}
	t.Run("standard output", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "snapshot", "save", "--data-dir="+from, "--output=-")
		cmd.Env = append(os.Environ(), runAsServer+"=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(absent, out, 0o600); err != nil {
			t.Fatal(err)
		}
		restore(t, absent, filepath.Join(t.TempDir(), "new"))
	})
}

// TestFullDatabase fills the quota, and holds that the user is told what to do and
// that doing it helps.
func TestFullDatabase(t *testing.T) {
	p := startStandalone(t, t.TempDir(), "--embedded-etcd-quota-bytes=2097152")
	backends := p.client(t).InferencecacheV1alpha1().CacheBackends("default")
	big := backend("")
	big.Annotations = map[string]string{"example.com/ballast": strings.Repeat("x", 200_000)}
	var err error
	made := 0
	for ; err == nil && made < 100; made++ {
		big.Name = fmt.Sprintf("big-%d", made)
		_, err = backends.Create(t.Context(), big, metav1.CreateOptions{})
	}
	if apierrors.ReasonForError(err) != "InsufficientStorage" {
		t.Fatalf("error %v, want one of reason InsufficientStorage", err)
	}
	for _, want := range []string{"delete objects", "--embedded-etcd-quota-bytes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if err := backends.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatalf("delete when the database is full: %v", err)
	}
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := backends.Create(t.Context(), backend("after"), metav1.CreateOptions{})
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("no write after the deletion: %v\n%s", err, p.stderr.String())
		case <-tick.C:
		}
	}
}
