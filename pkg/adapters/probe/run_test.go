/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package probe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/probe/probetest"
)

func TestUnreachable(t *testing.T) {
	tests := map[string]struct {
		err  error
		want probe.Outcome
	}{
		"nobody listens":             {fmt.Errorf("dial: %w", syscall.ECONNREFUSED), probe.Failed},
		"no such name":               {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, probe.Failed},
		"the resolver does not work": {&net.DNSError{Err: "server misbehaving", Name: "x", IsTemporary: true}, probe.Unknown},
		"no answer":                  {context.DeadlineExceeded, probe.Unknown},
		"no route":                   {syscall.EHOSTUNREACH, probe.Unknown},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := probe.Unreachable("store:1", test.err)
			if got.Outcome != test.want || !strings.Contains(got.Message, "store:1") {
				t.Errorf("%+v, want %s with the address", got, test.want)
			}
		})
	}
}

func TestRunCallsNobody(t *testing.T) {
	target := probe.Target{Address: probetest.Nobody(t)}
	got := probe.Run(t.Context(), target, func(context.Context, net.Conn) probe.Result {
		t.Error("the check ran without a connection")
		return probe.Result{}
	})
	if got.Outcome != probe.Failed {
		t.Errorf("%+v, want a failure", got)
	}
}

// TestRunConcludesNothingWhenCutShort holds that a manager that is ending does not
// call stores broken.
func TestRunConcludesNothingWhenCutShort(t *testing.T) {
	target := probe.Target{Address: probetest.Serve(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })}
	ctx, cancel := context.WithCancel(t.Context())
	got := probe.Run(ctx, target, func(_ context.Context, conn net.Conn) probe.Result {
		cancel()
		_, err := conn.Read(make([]byte, 1))
		if probe.Closed(err) {
			t.Errorf("%v is taken for the other side's doing", err)
		}
		return probe.Broken("no answer: %v", err)
	})
	if got.Outcome != probe.Unknown {
		t.Errorf("%+v, want an unknown outcome", got)
	}
}

func TestRunUsesDial(t *testing.T) {
	refused := errors.New("refused by the test")
	target := probe.Target{Address: "store:1", Dial: func(_ context.Context, network, address string) (net.Conn, error) {
		if network != "tcp" || address != "store:1" {
			t.Errorf("dialled %s %s", network, address)
		}
		return nil, refused
	}}
	if got := probe.Run(t.Context(), target, nil); got.Outcome != probe.Unknown {
		t.Errorf("%+v, want an unknown outcome", got)
	}
}

func TestQuote(t *testing.T) {
	tests := map[string]struct{ said, password, want string }{
		"as it is":    {"ERR no", "", "ERR no"},
		"password":    {"ERR unknown command 'AUTH', with args: 's3cret'", "s3cret", "ERR unknown command 'AUTH', with args: '***'"},
		"lines":       {"a\r\nb\x00c\x1b[31m", "", "a  b c [31m"},
		"not text":    {"a\xff\xfeb", "", "a  b"},
		"too long":    {strings.Repeat("a", 500), "", strings.Repeat("a", 160) + "..."},
		"cut in rune": {strings.Repeat("a", 159) + "é", "", strings.Repeat("a", 159) + "..."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := probe.Quote(test.said, test.password); got != test.want {
				t.Errorf("Quote() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrefix(t *testing.T) {
	if got := probe.Prefix("models", "cache"); got != "inferencecache.io/probe/models/cache" {
		t.Errorf("Prefix() = %s", got)
	}
}
