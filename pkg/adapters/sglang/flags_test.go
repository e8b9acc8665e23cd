/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestParseFlags(t *testing.T) {
	tests := map[string]struct {
		args string
		want Flags
		err  string
	}{
		"nothing of ours":   {args: "--model-path m --tp 2", want: Flags{}},
		"joined and apart":  {args: "--hicache-size=4 --hicache-ratio 2.0", want: Flags{FlagHiCacheSize: {"4"}, FlagHiCacheRatio: {"2.0"}}},
		"abbreviated":       {args: "--enable-lm --lmcache-config f --kv-e {} --enable-hier --hicache-w write_back", want: Flags{FlagEnableLMCache: {""}, FlagLMCacheConfigFile: {"f"}, flagEvents: {"{}"}, FlagEnableHiCache: {""}, FlagHiCacheWritePolicy: {"write_back"}}},
		"underscores":       {args: "--hicache_size 4", want: Flags{}},
		"another flag":      {args: "--hicache-storage-backend file --enable-metrics-for-all-schedulers", want: Flags{}},
		"twice":             {args: "--hicache-size 4 --hicache-size 8", want: Flags{FlagHiCacheSize: {"4", "8"}}},
		"ranks":             {args: "--dp 2 --data-parallel-size=3 --dp-size 4", want: Flags{flagRanks: {"2", "3", "4"}}},
		"a negative number": {args: "--hicache-size -1", want: Flags{FlagHiCacheSize: {"-1"}}},
		"a file":            {args: "--config f.yaml", want: Flags{flagConfig: {"f.yaml"}}},
		"no value":          {args: "--hicache-size", err: "expects a value"},
		"a flag for one":    {args: "--hicache-size --tp", err: "expects a value"},
		"a value too many":  {args: "--enable-lmcache=true", err: "takes no value"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseFlags(strings.Fields(tc.args))
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want one with %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListen(t *testing.T) {
	tests := map[string]struct {
		args string
		want wiring.Events
		// reason is why there is nothing to listen to.
		reason string
	}{
		"as injected": {
			args: `--kv-events-config {"publisher":"zmq","endpoint":"tcp://*:5557","replay_endpoint":"tcp://*:5657"} --enable-metrics --dp 2`,
			want: wiring.Events{Endpoint: "tcp://127.0.0.1:5557", ReplayEndpoint: "tcp://127.0.0.1:5657", Ranks: 2, HashScheme: "sglang", MetricsURL: "http://127.0.0.1:30000/metrics"},
		},
		"of a user": {
			args: `--kv-events-config={"publisher":"zmq","endpoint":"tcp://0.0.0.0:6000","topic":"t","replay_endpoint":"tcp://other:1"} --port=9`,
			want: wiring.Events{Endpoint: "tcp://127.0.0.1:6000", Topic: "t", Ranks: 1, HashScheme: "sglang"},
		},
		"none":           {args: "--port 9", reason: wiring.ReasonEventsDisabled},
		"no publisher":   {args: "--kv-events-config {}", reason: wiring.ReasonEventsDisabled},
		"dialled":        {args: `--kv-events-config {"publisher":"zmq","endpoint":"tcp://127.0.0.1:5557"}`, reason: wiring.ReasonEventsDisabled},
		"not to be read": {args: "--kv-events-config {", reason: wiring.ReasonEngineArguments},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Args: strings.Fields(tc.args)}}}}
			got, err := Listen(pod)
			if refusal := wiring.Refused(err); tc.reason != "" && (refusal == nil || refusal.Reason != tc.reason) || tc.reason == "" && err != nil {
				t.Fatalf("error %v, want reason %q", err, tc.reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzParseFlags holds that no command line makes the reader panic and that a flag
// that takes a value has one.
func FuzzParseFlags(f *testing.F) {
	corpus := mutation.New(f, 3000)
	for _, seed := range []string{
		"--enable-lmcache --lmcache-config-file /f", "--hicache-size=4 --hicache-ratio 2", `--kv-events-config {"publisher":"zmq"}`, "--dp 2 --port=1 --config f",
	} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t *testing.T, line string) {
		flags, err := ParseFlags(strings.Fields(line))
		if err != nil {
			return
		}
		if flags.ranks() < 1 || flags.port() > 65535 {
			t.Errorf("%d ranks at port %d", flags.ranks(), flags.port())
		}
		if _, err := flags.events(); err == nil && len(flags[flagEvents]) == 0 && flags.Given(flagEvents) {
			t.Error("events without a value")
		}
	})
}
