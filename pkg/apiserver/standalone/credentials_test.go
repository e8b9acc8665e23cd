/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func load(t *testing.T, dir string, now time.Time) *Credentials {
	t.Helper()
	c, err := LoadOrCreate(dir, now)
	if err != nil {
		t.Fatalf("load credentials: %v", err)
	}
	return c
}

func TestCredentialsSurviveRestart(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	first := load(t, dir, now)
	if err := first.WriteKubeconfig("https://127.0.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(first.KubeconfigFile())
	if err != nil {
		t.Fatal(err)
	}
	second := load(t, dir, now.Add(24*time.Hour))
	if err := second.WriteKubeconfig("https://127.0.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(second.KubeconfigFile())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("kubeconfig changed (-first +second):\n%s", diff)
	}
	if !bytes.Equal(first.serving.certPEM, second.serving.certPEM) {
		t.Error("serving certificate changed although it is new")
	}
}

func TestCredentialsAreDistinct(t *testing.T) {
	now := time.Now()
	a, b := load(t, t.TempDir(), now), load(t, t.TempDir(), now)
	if a.Token() == b.Token() || bytes.Equal(a.CAPEM(), b.CAPEM()) {
		t.Error("two directories share credentials")
	}
}

func TestFilePermissions(t *testing.T) {
	dir := t.TempDir()
	c := load(t, dir, time.Now())
	if err := c.WriteKubeconfig("https://127.0.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"token", "kubeconfig", "ca.crt", "pki/ca.key", "pki/tls.key", "pki/tls.crt"} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if fi.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", name, fi.Mode().Perm())
		}
	}
}

func TestKubeconfig(t *testing.T) {
	c := load(t, t.TempDir(), time.Now())
	if err := c.WriteKubeconfig("https://127.0.0.1:7443"); err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigFile())
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:7443" || config.BearerToken != c.Token() || !bytes.Equal(config.CAData, c.CAPEM()) || config.Insecure {
		t.Errorf("kubeconfig says host %s, insecure %t, or other credentials", config.Host, config.Insecure)
	}
}

func TestServingCertificate(t *testing.T) {
	now := time.Now()
	c := load(t, t.TempDir(), now)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.CAPEM()) {
		t.Fatal("CA is not PEM")
	}
	tests := map[string]struct {
		name string
		good bool
	}{
		"name":          {name: "localhost", good: true},
		"IPv4":          {name: "127.0.0.1", good: true},
		"IPv6":          {name: "::1", good: true},
		"other name":    {name: "example.org"},
		"other address": {name: "10.0.0.1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := c.serving.cert.Verify(x509.VerifyOptions{DNSName: tc.name, Roots: roots, CurrentTime: now})
			if (err == nil) != tc.good {
				t.Errorf("verify %s: %v, want good %t", tc.name, err, tc.good)
			}
		})
	}
}

func TestRenewal(t *testing.T) {
	tests := map[string]struct {
		after             time.Duration
		newLeaf, newRoots bool
	}{
		"next day":                    {after: 24 * time.Hour},
		"last third of the leaf":      {after: lifetime*2/3 + time.Hour, newLeaf: true},
		"after the end of everything": {after: lifetime + time.Hour, newLeaf: true, newRoots: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir, now := t.TempDir(), time.Now()
			before, after := load(t, dir, now), load(t, dir, now.Add(tc.after))
			if got := !bytes.Equal(before.serving.certPEM, after.serving.certPEM); got != tc.newLeaf {
				t.Errorf("new serving certificate: %t, want %t", got, tc.newLeaf)
			}
			if got := !bytes.Equal(before.CAPEM(), after.CAPEM()); got != tc.newRoots {
				t.Errorf("new authority: %t, want %t", got, tc.newRoots)
			}
		})
	}
}

func TestDamagedFiles(t *testing.T) {
	tests := map[string]struct {
		file, content, want string
	}{
		"empty token":           {file: "token", content: "\n", want: "does not hold a token"},
		"token of two words":    {file: "token", content: "a b", want: "does not hold a token"},
		"half a token":          {file: "token", content: strings.Repeat("a", minTokenBytes/2), want: "does not hold a token"},
		"huge token":            {file: "token", content: strings.Repeat("a", maxTokenBytes+1), want: "does not hold a token"},
		"damaged authority":     {file: "ca.crt", content: "x", want: "do not make a key pair"},
		"damaged authority key": {file: "pki/ca.key", content: "x", want: "do not make a key pair"},
		"damaged serving key":   {file: "pki/tls.key", content: "x", want: "do not make a key pair"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			load(t, dir, time.Now())
			if err := os.WriteFile(filepath.Join(dir, tc.file), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadOrCreate(dir, time.Now())
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), filepath.Join(dir, tc.file)) {
				t.Errorf("error %v, want one that names %s and says %q", err, tc.file, tc.want)
			}
		})
	}
}

func TestInterruptedFirstStart(t *testing.T) {
	dir := t.TempDir()
	first := load(t, dir, time.Now())
	// A certificate is written after its key, so this is what a kill leaves.
	if err := os.Remove(filepath.Join(dir, "pki", "tls.crt")); err != nil {
		t.Fatal(err)
	}
	second := load(t, dir, time.Now())
	if first.Token() != second.Token() || !bytes.Equal(first.CAPEM(), second.CAPEM()) {
		t.Error("what was complete was made again")
	}
}
