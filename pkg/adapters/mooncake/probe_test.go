/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/probe/probetest"
	"inferencecache.io/inference-cache/test/captures"
)

// recorded returns what a real master answered.
func recorded(t testing.TB, name string) captures.Exchange {
	t.Helper()
	for _, file := range []string{"admin", "variants"} {
		exchanges, err := captures.LoadExchanges("mooncake/master-0.3.13.post1-" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, exchange := range exchanges {
			if exchange.Name == name {
				return exchange
			}
		}
	}
	t.Fatalf("no exchange %s", name)
	return captures.Exchange{}
}

// master stands in for a master that answers from a recording, and returns how to
// dial it. An exchange that is not named is answered as the master answers paths
// that it does not have.
func master(t *testing.T, segments, metrics string) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()
	answers := map[string]captures.Exchange{pathSegments: recorded(t, "not_found"), pathMetrics: recorded(t, "not_found")}
	for path, name := range map[string]string{pathSegments: segments, pathMetrics: metrics} {
		if raw, isRaw := strings.CutPrefix(name, "raw:"); isRaw {
			answers[path] = captures.Exchange{Status: http.StatusOK, Response: []byte(raw)}
		} else if name != "" {
			answers[path] = recorded(t, name)
		}
	}
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path]
		w.WriteHeader(answer.Status)
		_, _ = w.Write(answer.Response)
	}))
	t.Cleanup(admin.Close)
	rpc := probetest.Serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	return dialling(map[string]string{"master:50051": rpc, "master:9003": admin.Listener.Addr().String()})
}

// dialling dials other addresses than it is told.
func dialling(addresses map[string]string) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addresses[address])
	}
}

func TestProbe(t *testing.T) {
	tests := map[string]struct {
		segments, metrics string
		want              probe.Outcome
		says              string
	}{
		"no client":                    {"empty_get_all_segments", "empty_metrics", probe.Failed, "No engine has joined"},
		"client without keys":          {"client_no_keys_get_all_segments", "client_no_keys_metrics", probe.OK, "1 segments of 67108864 bytes"},
		"client with keys":             {"three_keys_get_all_segments", "three_keys_metrics", probe.OK, "1 segments"},
		"client killed, not timed out": {"client_killed_segments", "three_keys_metrics", probe.OK, "1 segments"},
		"client timed out":             {"client_ttl_expired_segments", "empty_metrics", probe.Failed, "No engine has joined"},
		"restarted, not yet remounted": {"master_restarted_segments_immediately", "empty_metrics", probe.Failed, "No engine has joined"},
		"restarted, remounted":         {"master_restarted_segments_after_remount", "client_no_keys_metrics", probe.OK, "1 segments"},
		"client that lends nothing":    {"empty_get_all_segments", "client_no_keys_metrics", probe.Failed, "No engine lends memory"},
		"segments without capacity":    {"client_no_keys_get_all_segments", "empty_metrics", probe.Failed, "no capacity"},
		"metrics without what we know": {"client_no_keys_get_all_segments", "raw:other 1\n", probe.OK, "has 1 segments."},
		"metrics that are no numbers":  {"client_no_keys_get_all_segments", "raw:master_total_capacity_bytes many\n", probe.OK, "has 1 segments."},
		"no list of segments":          {"", "client_no_keys_metrics", probe.Unknown, "404 for /get_all_segments"},
		"no metrics":                   {"client_no_keys_get_all_segments", "", probe.Unknown, "404 for /metrics"},
		"an administration that fails": {"empty_query_segment", "", probe.Unknown, "500"},
		"a page for people":            {"raw:<html><body>\nhello\n</body></html>", "client_no_keys_metrics", probe.Unknown, "no name of a segment"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := Probe(t.Context(), probe.Target{Address: "master:50051", Dial: master(t, test.segments, test.metrics)})
			if got.Outcome != test.want || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s\nwant %s with %q", got.Outcome, got.Message, test.want, test.says)
			}
		})
	}
}

// TestHealthIsNoEvidence writes down why the probe does not ask for it.
func TestHealthIsNoEvidence(t *testing.T) {
	if with, without := recorded(t, "three_keys_health"), recorded(t, "client_ttl_expired_health"); string(with.Response) != string(without.Response) {
		t.Errorf("the health of a master tells memory from none after all: %s, %s", with.Response, without.Response)
	}
}

func TestProbeOfWhatCannotBeReached(t *testing.T) {
	nobody := probetest.Nobody(t)
	rpc := probetest.Serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
	tests := map[string]struct {
		target probe.Target
		want   probe.Outcome
	}{
		"master is gone":         {probe.Target{Address: "master:50051", Dial: dialling(map[string]string{"master:50051": nobody})}, probe.Failed},
		"administration is gone": {probe.Target{Address: "master:50051", Dial: dialling(map[string]string{"master:50051": rpc, "master:9003": nobody})}, probe.Unknown},
		"no host and port":       {probe.Target{Address: "master"}, probe.Unknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Probe(t.Context(), test.target); got.Outcome != test.want {
				t.Errorf("%+v, want %s", got, test.want)
			}
		})
	}
}
