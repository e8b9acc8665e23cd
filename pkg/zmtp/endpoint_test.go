/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseEndpoint(t *testing.T) {
	tests := map[string]struct {
		endpoint string
		want     []string
		wantErr  string
	}{
		"tcp":             {endpoint: "tcp://127.0.0.1:5557", want: []string{"tcp", "127.0.0.1:5557"}},
		"tcp by name":     {endpoint: "tcp://engine-0.pool:5557", want: []string{"tcp", "engine-0.pool:5557"}},
		"tcp version 6":   {endpoint: "tcp://[::1]:5557", want: []string{"tcp", "[::1]:5557"}},
		"ipc":             {endpoint: "ipc:///run/kv.sock", want: []string{"unix", "/run/kv.sock"}},
		"ipc abstract":    {endpoint: "ipc://@kv", want: []string{"unix", "@kv"}},
		"no scheme":       {endpoint: "127.0.0.1:5557", wantErr: "no scheme"},
		"other scheme":    {endpoint: "inproc://events", wantErr: "not supported"},
		"wildcard":        {endpoint: "tcp://*:5557", wantErr: "address to bind"},
		"no host":         {endpoint: "tcp://:5557", wantErr: "address to bind"},
		"interface":       {endpoint: "tcp://eth0;*:5557", wantErr: "address to bind"},
		"no port":         {endpoint: "tcp://127.0.0.1", wantErr: "missing port"},
		"port zero":       {endpoint: "tcp://127.0.0.1:0", wantErr: "no port"},
		"wildcard port":   {endpoint: "tcp://127.0.0.1:*", wantErr: "no port"},
		"no path":         {endpoint: "ipc://", wantErr: "no path"},
		"empty":           {endpoint: "", wantErr: "no scheme"},
		"too many colons": {endpoint: "tcp://::1:5557", wantErr: "too many colons"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			network, address, err := parseEndpoint(tc.endpoint)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("got error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, []string{network, address}); diff != "" {
				t.Errorf("network and address (-want +got):\n%s", diff)
			}
		})
	}
}
