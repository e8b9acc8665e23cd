/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/mutation"
)

func TestParseAnswer(t *testing.T) {
	cases := map[string]struct {
		body string
		want []uint32
		err  string
	}{
		"vLLM":               {body: `{"count":3,"max_model_len":8192,"tokens":[128000,15339,1917],"token_strs":null}`, want: []uint32{128000, 15339, 1917}},
		"without a count":    {body: `{"tokens":[1]}`, want: []uint32{1}},
		"unknown fields":     {body: `{"tokens":[1],"model":{"tokens":[2]},"more":[[]]}`, want: []uint32{1}},
		"spaces":             {body: " {\"tokens\" : [ 1 ,\n\t2 , 3 ] } ", want: []uint32{1, 2, 3}},
		"empty":              {body: `{"tokens":[],"count":0}`, want: []uint32{}},
		"empty with a space": {body: `{"tokens":[ ]}`, want: []uint32{}},
		"bounds":             {body: `{"tokens":[0,4294967295]}`, want: []uint32{0, math.MaxUint32}},

		"no body":           {body: ``, err: "not JSON at byte 0"},
		"cut":               {body: `{"tokens":[1,2`, err: "not JSON at byte"},
		"twice":             {body: `{"tokens":[1]}{"tokens":[1]}`, err: "not JSON at byte"},
		"a list":            {body: `[1,2]`, err: "wrong kind of value"},
		"an error":          {body: `{"error":{"message":"no such model","code":404}}`, err: "has no tokens"},
		"null":              {body: `{"tokens":null}`, err: "has no tokens"},
		"a text":            {body: `{"tokens":"1,2"}`, err: "not a list"},
		"an object":         {body: `{"tokens":{"0":1}}`, err: "not a list"},
		"nested":            {body: `{"tokens":[[1,2]]}`, err: "token 0: not a whole number"},
		"strings":           {body: `{"tokens":["1"]}`, err: "token 0: not a whole number"},
		"null inside":       {body: `{"tokens":[1,null]}`, err: "token 1: not a whole number"},
		"negative":          {body: `{"tokens":[-1]}`, err: "token 0: not a whole number"},
		"a fraction":        {body: `{"tokens":[1.0]}`, err: "token 0: not a whole number"},
		"an exponent":       {body: `{"tokens":[1e3]}`, err: "token 0: not a whole number"},
		"one too large":     {body: `{"tokens":[7,4294967296]}`, err: "token 1: not a whole number"},
		"far too large":     {body: `{"tokens":[` + strings.Repeat("9", 400) + `]}`, err: "token 0: not a whole number"},
		"count is less":     {body: `{"tokens":[1,2],"count":1}`, err: "has 2 tokens and says 1"},
		"count is more":     {body: `{"tokens":[1,2],"count":9007199254740993}`, err: "says 9007199254740993"},
		"count is no count": {body: `{"tokens":[1],"count":"1"}`, err: "wrong kind of value"},
		"too many":          {body: `{"tokens":[` + strings.Repeat("1,", MaxTokens) + `1]}`, err: "more than 1048576 tokens"},
		"deep":              {body: `{"tokens":[1],"x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, err: "cannot be read"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := parseAnswer([]byte(tc.body))
			if (err != nil) != (tc.err != "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Fatalf("error %v, want %q", err, tc.err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParseAnswerQuotesNothing holds that errors do not repeat what was sent,
// which can be the prompt.
func TestParseAnswerQuotesNothing(t *testing.T) {
	const secret = "attorney"
	for name, body := range map[string]string{
		"as the answer": `"` + secret + `"`,
		"as tokens":     `{"tokens":"` + secret + `"}`,
		"as a token":    `{"tokens":["` + secret + `"]}`,
		"as the count":  `{"tokens":[1],"count":"` + secret + `"}`,
		"as a field":    `{"` + secret + `":1}`,
		"as no JSON":    secret,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseAnswer([]byte(body)); err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestMaxAnswerBytes holds that the largest legal answer fits, even with a space
// after every comma.
func TestMaxAnswerBytes(t *testing.T) {
	longest := int64(MaxTokens*len("4294967295, ") + len(`{"count":1048576,"max_model_len":1048576,"tokens":[],"token_strs":null}`))
	if longest > maxAnswerBytes {
		t.Errorf("an answer can have %d bytes, %d are read", longest, maxAnswerBytes)
	}
}

// FuzzParseAnswer compares with a reading through encoding/json's own numbers.
func FuzzParseAnswer(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, seed := range []string{
		`{"count":3,"max_model_len":8192,"tokens":[128000,15339,1917],"token_strs":null}`,
		`{"tokens":[ 0 , 4294967295 ]}`, `{"tokens":[4294967296]}`, `{"tokens":[1,-1]}`, `{"tokens":[01]}`,
		`{"tokens":[]}`, `{"tokens":[[1]]}`, `{"tokens":["1,2"]}`, `{"TOKENS":[1],"tokens":[2]}`, `{"tokens":{}}`, `[`, ``,
	} {
		corpus.Add([]byte(seed))
	}
	corpus.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseAnswer(body)
		want, ok := parseSlowly(body)
		if ok != (err == nil) {
			t.Fatalf("%q: error %v, but the slow reading says %v", body, err, ok)
		}
		if err == nil && !slices.Equal(want, got) {
			t.Fatalf("%q: %v, want %v", body, got, want)
		}
	})
}

// parseSlowly is parseAnswer without its own reading of numbers.
func parseSlowly(body []byte) ([]uint32, bool) {
	var slow struct {
		Tokens *[]any `json:"tokens"`
		Count  *int64 `json:"count"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if !json.Valid(body) || decoder.Decode(&slow) != nil || slow.Tokens == nil {
		return nil, false
	}
	ids := make([]uint32, len(*slow.Tokens))
	for i, value := range *slow.Tokens {
		number, isNumber := value.(json.Number)
		id, err := strconv.ParseUint(number.String(), 10, 32)
		if !isNumber || err != nil {
			return nil, false
		}
		ids[i] = uint32(id)
	}
	return ids, slow.Count == nil || *slow.Count == int64(len(ids))
}

func BenchmarkParseAnswer(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 17} {
		b.Run(fmt.Sprintf("tokens=%d", size), func(b *testing.B) {
			ids := make([]string, size)
			for i := range ids {
				ids[i] = strconv.Itoa(i * 7919 % 128000)
			}
			body := fmt.Appendf(nil, `{"count":%d,"max_model_len":131072,"tokens":[%s],"token_strs":null}`, size, strings.Join(ids, ","))
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := parseAnswer(body); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size), "ns/token")
		})
	}
}
