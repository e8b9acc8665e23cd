/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package position

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/test/mutation"
)

func key(hash uint64) index.ItemKey {
	return index.ItemKey{Model: "m", HashScheme: "s", Adapter: "a", BlockSize: 16, Hash: hash}
}

func TestRoundTrip(t *testing.T) {
	for name, p := range map[string]*Position{
		"small hash":   {Key: key(0), Tier: index.T1},
		"largest hash": {Key: key(1<<64 - 1), Tier: index.T3},
		"odd names":    {Key: index.ItemKey{Model: "a/b \"c\" ü", Adapter: "\x00"}, Tier: index.T2},
	} {
		t.Run(name, func(t *testing.T) {
			token, err := p.Token()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Parse(token)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(p, got); diff != "" {
				t.Errorf("changed on its way (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	encode := base64.RawURLEncoding.EncodeToString
	for name, token := range map[string]string{
		"no base64":     "!",
		"no JSON":       encode([]byte("x")),
		"unknown tier":  encode([]byte(`{"k":{},"t":9}`)),
		"no tier":       encode([]byte(`{"k":{}}`)),
		"negative hash": encode([]byte(`{"k":{"Hash":-1},"t":1}`)),
		"too long":      encode([]byte(`{"k":{"Model":"` + strings.Repeat("m", maxTokenBytes) + `"},"t":1}`)),
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := Parse(token); !errors.Is(err, ErrInvalid) {
				t.Errorf("position %v, error %v, want %v", p, err, ErrInvalid)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	p := &Position{Key: key(5), Tier: index.T2}
	tests := map[string]struct {
		item Position
		want bool
	}{
		"earlier hash":   {item: Position{Key: key(4), Tier: index.T3}, want: true},
		"nearer tier":    {item: Position{Key: key(5), Tier: index.T1}, want: true},
		"itself":         {item: Position{Key: key(5), Tier: index.T2}, want: true},
		"farther tier":   {item: Position{Key: key(5), Tier: index.T3}},
		"later hash":     {item: Position{Key: key(6), Tier: index.T1}},
		"a later model":  {item: Position{Key: index.ItemKey{Model: "n"}, Tier: index.T1}},
		"an early model": {item: Position{Key: index.ItemKey{Model: "a", Hash: 9}, Tier: index.T1}, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := p.Covers(&tc.item); got != tc.want {
				t.Errorf("covers %t, want %t", got, tc.want)
			}
		})
	}
	var start *Position
	if start.Covers(p) || start.After() != nil {
		t.Error("the start covers something")
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutation.New(f, 5000)
	token, err := (&Position{Key: key(5), Tier: index.T2}).Token()
	if err != nil {
		f.Fatal(err)
	}
	corpus.Add(token)
	corpus.Add("")
	corpus.Add(base64.RawURLEncoding.EncodeToString([]byte(`{"k":{"Hash":0},"t":1}`)))
	corpus.Fuzz(func(t *testing.T, token string) {
		p, err := Parse(token)
		if err != nil || p == nil {
			return
		}
		if !p.Covers(p) {
			t.Errorf("%v does not cover itself", p)
		}
		again, err := p.Token()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Parse(again); err != nil || cmp.Diff(p, q) != "" {
			t.Errorf("%v became %v, error %v", p, q, err)
		}
	})
}
