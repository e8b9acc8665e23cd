/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/probe/probetest"
)

// server is a server that stores, and answers in the words of the recorded one.
type server struct {
	// validKey says which keys the server understands; nil is that of the recorded
	// release. Others end the connection.
	validKey func(string) bool
	// health is what answers the question for it; nil is what was recorded.
	health []byte
	// lose drops blocks, spoil changes them, and misdescribe their shape.
	lose, spoil, misdescribe bool
	// closeOnPut ends the connection when a block is stored; mute stops answering then.
	closeOnPut, mute bool
	lock             sync.Mutex
	stored           map[string][]byte
}

// parses says whether a key is one of the recorded release: model, world, rank, hash
// and type.
func parses(key string) bool {
	parts := strings.Split(key, "@")
	return len(parts) >= 5 && numeric(parts[1], 10) && numeric(parts[2], 10) && parts[4] == "half"
}

// formerlyParses says whether a key is one of a release up to 0.3.
func formerlyParses(key string) bool {
	parts := strings.Split(key, "@")
	return len(parts) == 5 && numeric(parts[2], 10) && numeric(parts[3], 10) && len(parts[4]) == 32
}

func numeric(s string, base int) bool {
	_, err := strconv.ParseInt(s, base, 64)
	return err == nil
}

func (s *server) start(t *testing.T) string {
	t.Helper()
	if s.validKey == nil {
		s.validKey = parses
	}
	if s.health == nil {
		s.health = recorded(t, "health").Response
	}
	s.stored = map[string][]byte{}
	missing := recorded(t, "get_missing").Response
	return probetest.Serve(t, func(conn net.Conn) {
		for {
			head := make([]byte, requestSize)
			if _, err := io.ReadFull(conn, head); err != nil {
				return
			}
			key := strings.TrimSpace(string(head[headerSize:]))
			if !s.validKey(key) {
				return
			}
			if !s.answer(conn, head, key, missing) {
				return
			}
		}
	})
}

// answer answers one request and says whether the connection stays.
func (s *server) answer(conn net.Conn, head []byte, key string, missing []byte) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	switch binary.LittleEndian.Uint32(head) {
	case commandHealth:
		_, _ = conn.Write(s.health)
	case commandPut:
		block := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		if _, err := io.ReadFull(conn, block); err != nil || s.closeOnPut {
			return false
		}
		if s.spoil {
			block[len(block)-1]++
		}
		// The head of an answer is that of the request with a code and without location.
		answer := slices.Concat([]byte{codeSuccess, 0, 0, 0}, head[4:16], head[20:36], []byte{0, 0, 0, 0}, block)
		if s.misdescribe {
			answer[16]++
		}
		if !s.lose {
			s.stored[key] = answer
		}
	case commandGet:
		switch answer, found := s.stored[key]; {
		case s.mute:
		case found:
			_, _ = conn.Write(answer)
		default:
			_, _ = conn.Write(missing)
		}
	}
	return true
}

func TestProbe(t *testing.T) {
	missing := recorded(t, "exist_missing").Response
	tests := map[string]struct {
		server *server
		want   probe.Outcome
		says   string
	}{
		"healthy":                        {&server{}, probe.OK, "stored a block"},
		"loses blocks":                   {&server{lose: true}, probe.Failed, "does not have it"},
		"spoils blocks":                  {&server{spoil: true}, probe.Failed, "another block"},
		"describes blocks otherwise":     {&server{misdescribe: true}, probe.Failed, "otherwise"},
		"closes on a block":              {&server{closeOnPut: true}, probe.Failed, "closes the connection"},
		"release up to 0.3":              {&server{validKey: formerlyParses, health: recorded(t, "health_former_key").Response}, probe.Unknown, "before 0.4"},
		"another protocol that closes":   {&server{validKey: func(string) bool { return false }}, probe.Unknown, "not known"},
		"another protocol that answers":  {&server{health: []byte("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")}, probe.Unknown, "not answer as"},
		"says that it is not healthy":    {&server{health: missing}, probe.Unknown, "not answer as"},
		"shorter head, as none we know":  {&server{health: make([]byte, 32)}, probe.Unknown, "not answer as"},
		"healthy and silent for a block": {&server{mute: true}, probe.Failed, "does not answer for a block"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // two of them wait until the time of a probe is over
			got := Probe(t.Context(), target(test.server.start(t), "n1"))
			if got.Outcome != test.want || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s\nwant %s with %q", got.Outcome, got.Message, test.want, test.says)
			}
		})
	}
}

func target(address, nonce string) probe.Target {
	return probe.Target{Address: address, KeyPrefix: probe.Prefix("models", "cache"), Nonce: nonce}
}

// TestProbesLeaveOneBlock holds that probes do not fill a server that forgets
// nothing.
func TestProbesLeaveOneBlock(t *testing.T) {
	s := &server{}
	address := s.start(t)
	for _, nonce := range []string{"n1", "n2", "n3"} {
		if got := Probe(t.Context(), target(address, nonce)); got.Outcome != probe.OK {
			t.Fatalf("%+v", got)
		}
	}
	if len(s.stored) != 1 {
		t.Errorf("%d blocks after three probes", len(s.stored))
	}
}

func TestProbeOfNobody(t *testing.T) {
	if got := Probe(t.Context(), target(probetest.Nobody(t), "n1")); got.Outcome != probe.Failed {
		t.Errorf("%+v, want a failure", got)
	}
}
