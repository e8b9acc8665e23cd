/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrongUse(t *testing.T) {
	held := filepath.Join(t.TempDir(), "held")
	file, err := lock(held)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	foreign := t.TempDir()
	if err := os.MkdirAll(filepath.Join(foreign, "cluster", "photos"), 0o700); err != nil {
		t.Fatal(err)
	}

	tests := map[string]struct {
		args []string
		want string
	}{
		"nothing":             {want: "say up or down"},
		"another word":        {args: []string{"sideways"}, want: "neither up nor down"},
		"no directory":        {args: []string{"up"}, want: "needs -dir"},
		"a further word":      {args: []string{"down", "-dir=x", "y"}, want: "takes flags only"},
		"nodes when it ends":  {args: []string{"down", "-dir=x", "-nodes=3"}, want: "not defined"},
		"no programs":         {args: []string{"up", "-dir=" + t.TempDir(), "-programs=" + t.TempDir()}, want: "hack/tool.sh controlplane"},
		"somebody is at work": {args: []string{"down", "-dir=" + held}, want: "another up or down"},
		"up over files":       {args: []string{"up", "-dir=" + foreign}, want: "not the directory of a cluster"},
		"down over files":     {args: []string{"down", "-dir=" + foreign}, want: "not the directory of a cluster"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(t.Context(), test.args, &out); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
			if out.Len() > 0 {
				t.Errorf("printed %q", &out)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(foreign, "cluster", "photos")); err != nil {
		t.Error(err)
	}
}

func TestDownWithoutUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "never", "made")
	if err := run(t.Context(), []string{"down", "-dir=" + dir}, os.Stderr); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}
