//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestKernelCheckScript runs the script in images of all kinds, which are folders
// here: Python finds packages by a variable.
func TestKernelCheckScript(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatalf("%v; install it with: apt-get install python3", err)
	}
	library := sharedLibrary(t)
	tests := map[string]struct {
		// files are paths with contents; "library" stands for one that can be loaded.
		files  map[string]string
		strict bool
		want   string
		fails  bool
	}{
		"no lmcache":          {want: "FAIL: the image has no lmcache package"},
		"no kernels":          {files: map[string]string{"lmcache/__init__.py": "", "torch.py": ""}, want: "FAIL: lmcache in "},
		"other libraries":     {files: map[string]string{"lmcache/__init__.py": "", "lmcache/lmcache_redis.so": "library"}, want: "FAIL: lmcache in "},
		"c_ops":               {files: map[string]string{"lmcache/__init__.py": "", "torch.py": "", "lmcache/c_ops.cpython-312.so": "library"}, want: "OK"},
		"cuda_ops":            {files: map[string]string{"lmcache/__init__.py": "", "torch.py": "", "lmcache/v1/cuda_ops.abi3.so": "library"}, strict: true, want: "OK"},
		"no torch":            {files: map[string]string{"lmcache/__init__.py": "", "lmcache/c_ops.so": "library"}, want: "FAIL: ModuleNotFoundError: "},
		"unloadable":          {files: map[string]string{"lmcache/__init__.py": "", "torch.py": "", "lmcache/c_ops.so": "no library"}, want: "FAIL: OSError: "},
		"unloadable, strict":  {files: map[string]string{"lmcache/__init__.py": "", "torch.py": "", "lmcache/c_ops.so": "no library"}, strict: true, want: "FAIL: OSError: ", fails: true},
		"one of two is":       {files: map[string]string{"lmcache/__init__.py": "", "torch.py": "", "lmcache/c_ops.so": "library", "lmcache/cuda_ops.so": "none"}, want: "FAIL: OSError: "},
		"a crash while asked": {files: map[string]string{"lmcache/__init__.py": "", "lmcache/c_ops.so": "library", "torch.py": "raise SystemExit(3)"}, want: "FAIL: SystemExit: 3"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			image, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
			for path, content := range tc.files {
				path = filepath.Join(image, path)
				if content == "library" {
					content = library
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), python, "-S", "-c", kernelCheckScript)
			cmd.Env = []string{"PYTHONPATH=" + image, "KERNEL_CHECK_LOG=" + log, EnvKernelCheckStrict + "=0"}
			if tc.strict {
				cmd.Env[2] = EnvKernelCheckStrict + "=1"
			}
			output, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails {
				t.Errorf("ended with %v: %s", err, output)
			}
			got, err := os.ReadFile(log)
			if err != nil || !strings.HasPrefix(string(got), tc.want) || len(got) > 3500 {
				t.Errorf("log %q, error %v, want %q", got, err, tc.want)
			}
		})
	}
}

// sharedLibrary returns the content of one that needs no other.
func sharedLibrary(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"/lib*/*/libm.so.6", "/usr/lib*/*/libm.so.6", "/usr/lib*/libm.so.6"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if content, err := os.ReadFile(path); err == nil {
				return string(content)
			}
		}
	}
	t.Fatal("no libm.so.6; install it with: apt-get install libc6")
	return ""
}
