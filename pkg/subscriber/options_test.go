/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// parse returns the options that arguments give, with the required ones added.
func parse(t *testing.T, args ...string) *Options {
	t.Helper()
	o := NewOptions()
	fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.AddFlags(fs)
	required := []string{"--replica-id=pod-0", "--tenant-id=team-a", "--model-id=m"}
	if err := fs.Parse(append(required, args...)); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		args []string
		// want are parts of the error: the flag, and what to do.
		want []string
	}{
		"defaults":                  {},
		"a backend by name":         {args: []string{"--backend=cache"}},
		"a backend with namespace":  {args: []string{"--backend=team-a/cache"}},
		"another namespace":         {args: []string{"--tenant-id=Team A", "--namespace=team-a", "--backend=team-a/cache"}},
		"replay":                    {args: []string{"--engine-replay-endpoint=tcp://127.0.0.1:5657", "--data-parallel-size=8"}},
		"local sockets":             {args: []string{"--engine-endpoint=ipc:///run/kv", "--engine-replay-endpoint=ipc:///run/replay"}},
		"no metrics":                {args: []string{"--engine-metrics-url=", "--metrics-bind-address=0"}},
		"no replica":                {args: []string{"--replica-id="}, want: []string{"--replica-id", "Pod"}},
		"no tenant":                 {args: []string{"--tenant-id="}, want: []string{"--tenant-id", "tenant"}},
		"no model":                  {args: []string{"--model-id="}, want: []string{"--model-id", "model"}},
		"a replica that is no Pod":  {args: []string{"--replica-id=Pod_0"}, want: []string{`--replica-id "Pod_0"`}},
		"a tenant, no namespace":    {args: []string{"--tenant-id=Team A"}, want: []string{`--namespace "Team A"`, "--tenant-id has to be one"}},
		"a backend elsewhere":       {args: []string{"--backend=team-b/cache"}, want: []string{`--backend "team-b/cache"`, "own namespace"}},
		"a backend that is no name": {args: []string{"--backend=team-a/c/d"}, want: []string{`--backend "team-a/c/d"`}},
		"a scheme":                  {args: []string{"--hash-scheme=trt"}, want: []string{`--hash-scheme "trt"`, "vllm or sglang"}},
		"no ranks":                  {args: []string{"--data-parallel-size=0"}, want: []string{`--data-parallel-size "0"`}},
		"ranks that collide":        {args: []string{"--engine-replay-endpoint=tcp://127.0.0.1:5558", "--data-parallel-size=2"}, want: []string{"--engine-replay-endpoint", "5557 and 5657"}},
		"the same socket twice":     {args: []string{"--engine-replay-endpoint=tcp://127.0.0.1:5557"}, want: []string{"--engine-replay-endpoint"}},
		"an address to bind":        {args: []string{"--engine-endpoint=tcp://*:5557"}, want: []string{"--engine-endpoint", "127.0.0.1"}},
		"no scheme":                 {args: []string{"--engine-endpoint=127.0.0.1:5557"}, want: []string{"--engine-endpoint", "tcp://"}},
		"another transport":         {args: []string{"--engine-endpoint=inproc://x"}, want: []string{"--engine-endpoint", "tcp://"}},
		"no port":                   {args: []string{"--engine-endpoint=tcp://host"}, want: []string{"--engine-endpoint"}},
		"too few ports":             {args: []string{"--engine-endpoint=tcp://host:65535", "--data-parallel-size=2"}, want: []string{"--engine-endpoint", "2 ranks"}},
		"one path, two ranks":       {args: []string{"--engine-endpoint=ipc:///run/kv", "--data-parallel-size=2"}, want: []string{"--engine-endpoint", "2 ranks"}},
		"a rule":                    {args: []string{"--block-removed=never"}, want: []string{`--block-removed "never"`, "per-copy"}},
		"a server":                  {args: []string{"--server=index"}, want: []string{`--server "index"`, "host:port"}},
		"a token file":              {args: []string{"--token-file=/no/such"}, want: []string{"--token-file", "mount"}},
		"a CA file":                 {args: []string{"--ca-file=/no/such"}, want: []string{"--ca-file", "mount"}},
		"a window":                  {args: []string{"--window=0s"}, want: []string{`--window "0s"`}},
		"an interval":               {args: []string{"--stats-interval=1ms"}, want: []string{`--stats-interval "1ms"`}},
		"a ceiling":                 {args: []string{"--max-concurrency-ceiling=0"}, want: []string{"--max-concurrency-ceiling"}},
		"a size":                    {args: []string{"--engine-cache-size-bytes=-1"}, want: []string{"--engine-cache-size-bytes"}},
		"a URL":                     {args: []string{"--engine-metrics-url=localhost:8000"}, want: []string{"--engine-metrics-url", "http://"}},
		"an address":                {args: []string{"--metrics-bind-address=9102"}, want: []string{"--metrics-bind-address", ":port"}},
		"several at once":           {args: []string{"--window=0s", "--server=x", "--hash-scheme=y"}, want: []string{"--window", "--server", "--hash-scheme"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := parse(t, tc.args...).Validate()
			if len(tc.want) == 0 {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not contain %q", err, want)
				}
			}
			if _, err := New(*parse(t, tc.args...)); err == nil {
				t.Error("New accepts what Validate refuses")
			}
		})
	}
}

func TestEndpointsOfRanks(t *testing.T) {
	e, err := parseEndpoint("flag", "tcp://[::1]:5557", 3)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{e.ofRank(0), e.ofRank(2)}
	if diff := cmp.Diff([]string{"tcp://[::1]:5557", "tcp://[::1]:5559"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBackend(t *testing.T) {
	tests := map[string]struct{ backend, namespace, name string }{
		"none":           {"", "", ""},
		"a name":         {"cache", "team-a", "cache"},
		"with namespace": {"team-b/cache", "team-b", "cache"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			namespace, backend := parse(t, "--backend="+tc.backend).backend()
			if namespace != tc.namespace || backend != tc.name {
				t.Errorf("%s/%s, want %s/%s", namespace, backend, tc.namespace, tc.name)
			}
		})
	}
}
