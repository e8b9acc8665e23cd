/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/mutation"
)

// recordedCase is one command line and what vLLM's own parser made of it.
type recordedCase struct {
	Case   string          `json:"case"`
	Args   string          `json:"args"`
	Result json.RawMessage `json:"result"`
}

// recordedCases reads the recording.
func recordedCases(t testing.TB) []recordedCase {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "test", "captures", "vllm", "0.32.0-connectors", "parser.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	var cases []recordedCase
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var c recordedCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 64 {
		t.Fatalf("%d cases, want 64", len(cases))
	}
	return cases
}

// TestParseFlagsRecorded holds ParseFlags against the real parser. A command line
// with a configuration file only has to be known as such: nobody can read the file
// from outside the engine.
func TestParseFlagsRecorded(t *testing.T) {
	for _, c := range recordedCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			flags, err := ParseFlags(strings.Fields(c.Args))
			var want map[string]any
			refused := json.Unmarshal(c.Result, &want) != nil
			switch {
			case strings.Count(c.Args, "--config ") == 1:
				if err != nil || flags.ConfigFile == "" {
					t.Errorf("file %q, error %v; want the file that is named", flags.ConfigFile, err)
				}
			case refused:
				if err == nil && !hasUnknown(flags) {
					t.Errorf("flags %+v, where the engine said %s", flags, c.Result)
				}
			case err != nil:
				t.Errorf("error %v, where the engine starts", err)
			case flags.ConfigFile != "":
				t.Errorf("file %q, where the engine reads none", flags.ConfigFile)
			default:
				if diff := cmp.Diff(want, asRecorded(flags)); diff != "" {
					t.Errorf("flags (-engine +ours):\n%s", diff)
				}
			}
		})
	}
}

func hasUnknown(flags Flags) bool {
	return flags.Transfer != nil && len(flags.Transfer.Unknown) > 0 || flags.Events != nil && len(flags.Events.Unknown) > 0
}

// asRecorded brings flags into the form of the recording.
func asRecorded(flags Flags) map[string]any {
	got := map[string]any{}
	orNil := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	if c := flags.Transfer; c != nil {
		extra := c.ExtraConfig
		if extra == nil {
			extra = map[string]any{}
		}
		got["kv_transfer_config"] = map[string]any{
			"kv_connector": orNil(c.Connector), "kv_role": orNil(c.Role), "kv_connector_module_path": orNil(c.ModulePath),
			"kv_load_failure_policy": c.LoadFailurePolicy, "kv_connector_extra_config": extra,
		}
	}
	if c := flags.Events; c != nil {
		got["kv_events_config"] = map[string]any{
			"enable_kv_cache_events": c.Enabled, "publisher": c.Publisher, "endpoint": c.Endpoint,
			"replay_endpoint": orNil(c.ReplayEndpoint), "topic": c.Topic,
		}
	}
	if flags.OffloadingSize > 0 {
		got["kv_offloading_size"] = flags.OffloadingSize
		got["kv_offloading_backend"] = flags.OffloadingBackend
	}
	if flags.DisableHybrid != nil {
		got["disable_hybrid_kv_cache_manager"] = *flags.DisableHybrid
	}
	if flags.PrefixCaching != nil {
		got["enable_prefix_caching"] = *flags.PrefixCaching
	}
	return got
}

// TestParseFlags has what the recording does not.
func TestParseFlags(t *testing.T) {
	tests := map[string]struct {
		args []string
		want Flags
		err  string
	}{
		"nothing":                  {want: Flags{DataParallelSize: 1}},
		"a model and other flags":  {args: []string{"org/model", "--max-model-len", "4096", "--dtype=auto"}, want: Flags{DataParallelSize: 1}},
		"port":                     {args: []string{"--port", "9000"}, want: Flags{Port: 9000, DataParallelSize: 1}},
		"port from elsewhere":      {args: []string{"--port=$(PORT)"}, want: Flags{Port: -1, DataParallelSize: 1}},
		"ranks":                    {args: []string{"--data-parallel-size=4"}, want: Flags{DataParallelSize: 4}},
		"ranks, short":             {args: []string{"-dp", "2"}, want: Flags{DataParallelSize: 2}},
		"ranks of this node":       {args: []string{"--data-parallel-size-local", "2"}, want: Flags{DataParallelSize: 1}},
		"no ranks":                 {args: []string{"-dp", "0"}, err: "--data-parallel-size"},
		"HTTPS":                    {args: []string{"--ssl-certfile", "/tls/tls.crt"}, want: Flags{TLS: true, DataParallelSize: 1}},
		"offloading taken back":    {args: []string{"--kv-offloading-size", "1", "--kv-offloading-size=None"}, want: Flags{DataParallelSize: 1}},
		"offloading of no size":    {args: []string{"--kv-offloading-size", "much"}, err: "no number"},
		"two dots, no value":       {args: []string{"--kv-events-config.topic"}, err: "expects a value"},
		"a dot in a value":         {args: []string{"--model=a.b", "--served-model-name", "x.y"}, want: Flags{DataParallelSize: 1}},
		"the configuration's name": {args: []string{"--config"}, err: "--config has no value"},
		"a negative number":        {args: []string{"--kv-offloading-size", "-1"}, want: Flags{OffloadingSize: -1, DataParallelSize: 1}},
		"a flag for a value":       {args: []string{"--kv-events-config", "--port"}, err: "expects a value"},
		"a number for a connector": {args: []string{`--kv-transfer-config={"kv_connector":1}`}, err: "kv_connector is no text"},
		"a list for the extras":    {args: []string{`--kv-transfer-config={"kv_connector_extra_config":[]}`}, err: "is no object"},
		"an unclear truth":         {args: []string{`--kv-events-config={"enable_kv_cache_events":"perhaps"}`}, err: "no truth value"},
		"a single dash, underscores": {
			args: []string{"-kv_events_config", "{}"}, err: "one dash",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseFlags(tc.args)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want one with %q", err, tc.err)
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

// FuzzParseFlags holds that no command line makes the reader panic, that it reads
// the same twice, and that what it accepts twice over it still accepts.
func FuzzParseFlags(f *testing.F) {
	corpus := mutation.New(f, 4000)
	for _, c := range recordedCases(f) {
		corpus.Add(c.Args)
	}
	corpus.Fuzz(func(t *testing.T, line string) {
		args := strings.Fields(line)
		first, err := ParseFlags(args)
		second, again := ParseFlags(args)
		if diff := cmp.Diff(first, second, cmp.AllowUnexported(TransferConfig{}, form{})); diff != "" || (err == nil) != (again == nil) {
			t.Fatalf("two readings of %q differ: %v, %v\n%s", args, err, again, diff)
		}
		if err == nil && first.DataParallelSize < 1 {
			t.Errorf("%d ranks", first.DataParallelSize)
		}
	})
}

func BenchmarkParseFlags(b *testing.B) {
	args := strings.Fields(`org/model --port 8000 --max-model-len 4096 --kv-transfer-config {"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"} --kv-events-config.enable_kv_cache_events true`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseFlags(args); err != nil {
			b.Fatal(err)
		}
	}
}
