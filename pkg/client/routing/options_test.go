/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNewRefuses(t *testing.T) {
	ca := newAuthority(t)
	empty := filepath.Join(t.TempDir(), "empty")
	writeFile(t, empty, nil)
	with := func(change func(*Options)) Options {
		options := testOptions(t, ca)
		options.Servers = []string{"index:9090"}
		change(&options)
		return options
	}
	cases := map[string]struct {
		options Options
		errs    []string
	}{
		"no server":         {with(func(o *Options) { o.Servers = nil }), []string{"no server is named"}},
		"no port":           {with(func(o *Options) { o.Servers = []string{"index"} }), []string{`server "index"`, "missing port"}},
		"no host":           {with(func(o *Options) { o.Servers = []string{":9090"} }), []string{`server ":9090" is not of the form host:port`}},
		"no such authority": {with(func(o *Options) { o.CAFile += ".gone" }), []string{"read the certificate authorities"}},
		"no authority":      {with(func(o *Options) { o.CAFile = empty }), []string{"no certificate in"}},
		"no such token":     {with(func(o *Options) { o.TokenFile += ".gone" }), []string{"read the token"}},
		"no token":          {with(func(o *Options) { o.TokenFile = empty }), []string{"is empty"}},
		"negative times": {
			with(func(o *Options) { o.Timeout, o.HealthInterval, o.ResolveInterval = -1, -2, -3 }),
			[]string{"the timeout is -1ns", "the health interval is -2ns", "the resolve interval is -3ns"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			client, err := New(tc.options)
			if err == nil {
				client.Close()
				t.Fatal("the options are taken")
			}
			for _, want := range tc.errs {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %q", err, want)
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	options, err := Options{Servers: []string{"index:9090"}}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if options.Timeout != DefaultTimeout || options.HealthInterval != DefaultHealthInterval ||
		options.ResolveInterval != DefaultResolveInterval || options.Resolver != net.DefaultResolver {
		t.Errorf("options %+v", options)
	}
	options.Logger.Info("goes nowhere")
}

// TestToken follows a token file that is replaced, and one that is missing for a
// moment.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	token := &fileToken{path: path}
	if _, err := token.GetRequestMetadata(t.Context()); err == nil {
		t.Error("a missing token is sent")
	}
	steps := []struct {
		content string
		expired bool
		want    string
	}{
		{"one\n", false, "Bearer one"},
		{"two", false, "Bearer one"},
		{"two", true, "Bearer two"},
		{"", true, "Bearer two"},
		{"three", true, "Bearer three"},
	}
	for i, step := range steps {
		writeFile(t, path, []byte(step.content))
		if held := token.last.Load(); held != nil && step.expired {
			token.last.Store(&heldToken{metadata: held.metadata, read: time.Now().Add(-2 * tokenLife)})
		}
		sent, err := token.GetRequestMetadata(t.Context())
		if err != nil || sent["authorization"] != step.want {
			t.Errorf("step %d: sent %v (%v), want %q", i, sent, err, step.want)
		}
	}
	if !token.RequireTransportSecurity() {
		t.Error("the token may travel in the clear")
	}
}

// TestAuthorityIsRead holds that a handshake sees the file of its time.
func TestAuthorityIsRead(t *testing.T) {
	ca := newAuthority(t)
	trust := newRootsFile(ca.file, "index.test")
	if err := os.Remove(ca.file); err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	defer func() { _, _ = near.Close(), far.Close() }()
	if _, _, err := trust.Clone().ClientHandshake(t.Context(), "index.test", near); err == nil || !strings.Contains(err.Error(), "read the certificate authorities") {
		t.Errorf("error %v", err)
	}
}
