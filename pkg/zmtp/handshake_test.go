/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHandshake(t *testing.T) {
	null := greetingOf(3, mechanismNull)
	tests := map[string]struct {
		stream  []byte
		wantIs  error
		wantErr string
	}{
		"publisher":            {stream: readyOf("PUB")},
		"extended publisher":   {stream: readyOf("XPUB")},
		"later version":        {stream: appendReady(greetingOf(4, mechanismNull), "PUB")},
		"router":               {stream: readyOf("ROUTER"), wantIs: ErrProtocol, wantErr: "\"ROUTER\" socket"},
		"nothing":              {stream: nil, wantIs: io.EOF, wantErr: "greeting"},
		"cut greeting":         {stream: null[:40], wantIs: io.ErrUnexpectedEOF, wantErr: "greeting"},
		"no socket type sent":  {stream: null, wantIs: io.EOF, wantErr: "socket type"},
		"an HTTP server":       {stream: []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), wantIs: ErrProtocol, wantErr: "does not speak ZMTP"},
		"version 2":            {stream: greetingOf(1, "")[:12], wantIs: ErrProtocol, wantErr: "ZMTP 1"},
		"curve":                {stream: greetingOf(3, "CURVE"), wantIs: ErrProtocol, wantErr: "\"CURVE\""},
		"refused":              {stream: appendCommand(bytes.Clone(null), commandError, []byte("\x04full")), wantIs: ErrProtocol, wantErr: "full"},
		"message first":        {stream: join(null, []byte{0, 1, 'x'}), wantIs: ErrProtocol, wantErr: "message before"},
		"other command first":  {stream: appendCommand(bytes.Clone(null), commandPing, nil), wantIs: ErrProtocol, wantErr: "PING"},
		"empty command":        {stream: join(null, []byte{flagCommand, 0}), wantIs: ErrProtocol, wantErr: "without a name"},
		"name beyond command":  {stream: join(null, []byte{flagCommand, 2, 9, 'R'}), wantIs: ErrProtocol, wantErr: "without a name"},
		"no metadata":          {stream: appendCommand(bytes.Clone(null), commandReady, nil), wantIs: ErrProtocol, wantErr: "does not name"},
		"cut property":         {stream: appendCommand(bytes.Clone(null), commandReady, []byte{11, 'S'}), wantIs: ErrProtocol, wantErr: "inside a property"},
		"property beyond":      {stream: appendCommand(bytes.Clone(null), commandReady, []byte("\x01a\xff\xff\xff\xff")), wantIs: ErrProtocol, wantErr: "inside property"},
		"giant command":        {stream: join(null, []byte{flagCommand | flagLong, 0x3f, 255, 255, 255, 255, 255, 255, 255}), wantIs: ErrLimit, wantErr: "command of"},
		"reserved flags":       {stream: join(null, []byte{0x80, 1, 'x'}), wantIs: ErrProtocol, wantErr: "flags 0x80"},
		"command in two parts": {stream: join(null, []byte{flagCommand | flagMore, 1, 'x'}), wantIs: ErrProtocol, wantErr: "several frames"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, raw, err := scripted(t, tc.stream, Options{})
			if tc.wantIs == nil {
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(appendReady(greetingOf(3, "NULL"), "SUB"), raw.written.Bytes()); diff != "" {
					t.Errorf("sent to the peer (-want +got):\n%s", diff)
				}
				return
			}
			if !errors.Is(err, tc.wantIs) || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got error %v, want %v with %q", err, tc.wantIs, tc.wantErr)
			}
		})
	}
}

// TestDialSilentPeer holds that a peer that accepts and says nothing cannot
// keep a caller beyond its context or the handshake timeout.
func TestDialSilentPeer(t *testing.T) {
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	tests := map[string]struct {
		opts Options
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want error
	}{
		"timeout": {
			opts: Options{HandshakeTimeout: 10 * time.Millisecond},
			ctx:  context.WithCancel,
			want: context.DeadlineExceeded,
		},
		"cancelled": {
			ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(10*time.Millisecond, cancel)
				return ctx, cancel
			},
			want: context.Canceled,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := tc.ctx(t.Context())
			defer cancel()
			_, err := DialSub(ctx, acceptOne(t, silent), nil, tc.opts)
			if !errors.Is(err, tc.want) {
				t.Errorf("got error %v, want %v", err, tc.want)
			}
		})
	}
}

func TestDialNobody(t *testing.T) {
	_, err := DialDealer(t.Context(), "ipc://"+t.TempDir()+"/missing.sock", Options{})
	if err == nil || !strings.Contains(err.Error(), "missing.sock") {
		t.Errorf("got error %v, want one that names the endpoint", err)
	}
}
