/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"google.golang.org/grpc/peer"
)

func TestMistakesAreForgivenInTime(t *testing.T) {
	now := time.Unix(1000, 0)
	here, there := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	var m mistakes
	for i := range mistakeBurst {
		if !m.forgives(here, now) {
			t.Fatalf("mistake %d is not forgiven", i)
		}
		m.note(here, now)
	}
	steps := []struct {
		name string
		from netip.Addr
		at   time.Time
		want bool
	}{
		{"one too many", here, now, false},
		{"elsewhere", there, now, true},
		{"before its time", here, now.Add(mistakeEvery - 1), false},
		{"in time", here, now.Add(mistakeEvery), true},
	}
	for _, step := range steps {
		if got := m.forgives(step.from, step.at); got != step.want {
			t.Errorf("%s: forgiven %t, want %t", step.name, got, step.want)
		}
	}
}

// TestMistakesAreBounded sends wrong tokens from more addresses than are told apart.
func TestMistakesAreBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	var m mistakes
	address := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}) }
	for i := range maxAddresses + mistakeBurst {
		m.note(address(i), now)
	}
	if len(m.clean) > maxAddresses+1 {
		t.Errorf("%d addresses are kept, want at most %d", len(m.clean), maxAddresses+1)
	}
	if m.forgives(address(2*maxAddresses), now) {
		t.Error("one of the rest is asked about, though the rest has used up its tries")
	}
	if !m.forgives(address(0), now) {
		t.Error("one that is known for one mistake pays for the rest")
	}
	// All is forgiven later, and forgotten with the next mistake.
	later := now.Add(time.Hour)
	m.note(address(0), later)
	if len(m.clean) != 1 {
		t.Errorf("%d addresses are kept after an hour, want 1", len(m.clean))
	}
}

func TestAddressOf(t *testing.T) {
	tests := map[string]struct{ peer, want string }{
		"IPv4":            {"10.0.0.1:4711", "10.0.0.1"},
		"IPv6":            {"[fd00::1]:4711", "fd00::1"},
		"IPv6 with zone":  {"[fe80::1%eth0]:4711", "fe80::1"},
		"IPv4 as IPv6":    {"[::ffff:10.0.0.1]:4711", "10.0.0.1"},
		"no address":      {"bufconn", "invalid IP"},
		"an empty string": {"", "invalid IP"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: text(test.peer)})
			if got := fmt.Sprint(addressOf(ctx)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if got := addressOf(context.Background()); got.IsValid() {
		t.Errorf("got %s without a peer", got)
	}
}

// text is an address that looks like this.
type text string

var _ net.Addr = text("")

// Network returns nothing of use.
func (text) Network() string { return "" }

// String returns the text.
func (a text) String() string { return string(a) }
