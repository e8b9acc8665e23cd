/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestScore(t *testing.T) {
	tests := map[string]struct {
		answer answer
		want   score
		mark   string
		wrong  int
	}{
		"equal": {
			answer{prompt: 100, matched: 64, reused: 64, exact: true},
			score{requests: 1, compared: 1, equal: 1, promptTokens: 100, reusedTokens: 64}, "=", 0,
		},
		"too high": {
			answer{prompt: 100, matched: 96, reused: 64, exact: true},
			score{requests: 1, compared: 1, higher: 1, promptTokens: 100, reusedTokens: 64}, "TOO HIGH", 1,
		},
		"a bound that is too high": {
			answer{prompt: 100, matched: 96, reused: 64},
			score{requests: 1, compared: 1, higher: 1, promptTokens: 100, reusedTokens: 64}, "TOO HIGH", 1,
		},
		"too low": {
			answer{prompt: 100, matched: 32, reused: 64, exact: true},
			score{requests: 1, compared: 1, lower: 1, promptTokens: 100, reusedTokens: 64}, "TOO LOW", 1,
		},
		"lower and said to be a bound": {
			answer{prompt: 100, matched: 32, reused: 64},
			score{requests: 1, compared: 1, lower: 1, bounds: 1, promptTokens: 100, reusedTokens: 64}, "lower bound", 0,
		},
		"not comparable": {
			answer{prompt: 100, matched: 96, exact: true, why: "reset"},
			score{requests: 1, promptTokens: 100}, "not comparable: reset", 0,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got score
			got.add(test.answer)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(score{})); diff != "" {
				t.Errorf("score (-want +got):\n%s", diff)
			}
			if got.wrong() != test.wrong {
				t.Errorf("%d wrong, want %d", got.wrong(), test.wrong)
			}
			if got := test.answer.mark(); got != test.mark {
				t.Errorf("mark %q, want %q", got, test.mark)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	tests := map[string]struct {
		scores []score
		want   string
	}{
		"all right":        {[]score{{engine: "a", compared: 2, equal: 2}, {engine: "b", compared: 1, lower: 1, bounds: 1}}, ""},
		"nothing compared": {[]score{{engine: "a", requests: 3}}, "a: nothing was compared"},
		"wrong":            {[]score{{engine: "a", compared: 3, equal: 1, higher: 1, lower: 1}}, "a: 2 of 3 answers were wrong"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := judge(test.scores)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestPrintTable(t *testing.T) {
	table := &metav1.Table{
		ColumnDefinitions: []metav1.TableColumnDefinition{{Name: "Name"}, {Name: "Matched"}, {Name: "Wide", Priority: 1}},
		Rows: []metav1.TableRow{
			{Cells: []any{"vllm", int64(3), "hidden"}},
			{Cells: []any{"sglang", nil, "hidden"}},
		},
	}
	var out bytes.Buffer
	if err := printTable(&out, table); err != nil {
		t.Fatal(err)
	}
	want := "NAME     MATCHED\nvllm     3\nsglang   <none>\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestParseFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"none":           {nil, ""},
		"simulated":      {[]string{"-engine=sim", "-check"}, ""},
		"unknown engine": {[]string{"-engine=real"}, "want recorded or sim"},
		"stray argument": {[]string{"now"}, `unexpected argument "now"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parseFlags(test.args)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
