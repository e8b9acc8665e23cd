/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package replicas

import (
	"context"
	"encoding/json"
	"io"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apiserver/livedata"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/report"
	"inferencecache.io/inference-cache/test/captures"
)

const (
	namespace = "team"
	backend   = "cache"
)

// now is after everything that was recorded.
var now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

// index is a name that stands for some replicas.
type index struct {
	replicas []*indexservertest.Instance

	mu    sync.Mutex
	known int
}

// show sets how many of the replicas the name has.
func (x *index) show(n int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.known = n
}

// LookupNetIP implements report.Resolver.
func (x *index) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var addresses []netip.Addr
	for i := range x.known {
		addresses = append(addresses, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}))
	}
	return addresses, nil
}

// connect returns a connection to the replica of an address.
func (x *index) connect(t *testing.T) func(string) (report.Connection, error) {
	return func(address string) (report.Connection, error) {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return report.Connection{}, err
		}
		return report.Connection{
			InferenceCacheClient: x.replicas[at.Addr().As4()[3]].Client(t), Closer: io.NopCloser(nil),
		}, nil
	}
}

// feed reports a rank to the replicas.
type feed struct {
	*index
	journal *report.Journal
	ticks   *clocktesting.FakeClock
}

func newFeed(t *testing.T, engine mirror.Engine) *feed {
	t.Helper()
	f := &feed{
		index:   &index{replicas: []*indexservertest.Instance{indexservertest.Start(t), indexservertest.Start(t)}, known: 1},
		journal: report.NewJournal(report.JournalOptions{Window: time.Nanosecond, Mirror: mirror.Options{Engine: engine}}),
		ticks:   clocktesting.NewFakeClock(time.Unix(1, 0)),
	}
	for _, replica := range f.replicas {
		replica.Clock.SetTime(now)
	}
	f.journal.Connected()
	fanout, err := report.NewFanout(report.Config{
		Server: "index:9090", Resolver: f, Connect: f.connect(t), Clock: f.ticks,
		Metrics: report.NewMetrics(prometheus.NewRegistry()),
		Identity: report.Identity{
			Namespace: namespace, Pod: "pod-0", BackendNamespace: namespace, Backend: backend,
			Tenant: namespace, Model: "m", HashScheme: "scheme", Engine: "engine",
		},
	}, f.journal)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = fanout.Run(ctx) // ends with the context only
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return f
}

// await waits until so many replicas know all that the journal has made. Time goes
// on meanwhile, so that names are looked up and snapshots get their turn.
func (f *feed) await(t *testing.T, n int) {
	t.Helper()
	indexservertest.Await(t, "the newest delta", func() bool {
		sequence, waiting := f.journal.Progress()
		for _, replica := range f.replicas[:n] {
			views, _ := replica.Index.Holders(replica.Clock.Now())
			if len(views) != 1 || views[0].Sequence != sequence {
				f.ticks.Step(time.Second)
				return false
			}
		}
		return !waiting
	})
}

// answers returns what a replica says of the backend, as bytes. The listing is
// read in pages.
func answers(t *testing.T, replica *indexservertest.Instance) []string {
	t.Helper()
	source := livedata.Source{Index: replica.Index, Name: "any", Clock: replica.Clock}
	name := types.NamespacedName{Namespace: namespace, Name: backend}
	var out []string
	add := func(answer any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := json.MarshalIndent(answer, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(bytes))
	}
	observation, err := livedata.Observer{Source: source}.Observe(t.Context(), name, "", &inferencecache.CacheBackendObservationOptions{})
	add(observation, err)
	options := inferencecache.CacheBackendSnapshotOptions{Limit: 50}
	for {
		page, err := livedata.SnapshotLister{Source: source}.ListSnapshot(t.Context(), name, "", &options)
		add(page, err)
		if page.Continue == "" {
			return out
		}
		options.Continue = page.Continue
	}
}

func TestEqualInputEqualAnswers(t *testing.T) {
	tests := map[string]struct {
		engine mirror.Engine
		dir    string
		// scenario is empty where a folder is one process.
		scenario string
	}{
		"vllm":                     {engine: mirror.VLLM, dir: "vllm/0.32.0"},
		"vllm copies":              {engine: mirror.VLLM, dir: "vllm/0.32.0-copies"},
		"vllm hybrid":              {engine: mirror.VLLM, dir: "vllm/0.32.0-hybrid"},
		"vllm window only":         {engine: mirror.VLLM, dir: "vllm/0.32.0-window-only"},
		"sglang with a host tier":  {engine: mirror.SGLang, dir: "sglang/0.5.23", scenario: "p16-hicache-wt"},
		"sglang with two adapters": {engine: mirror.SGLang, dir: "sglang/0.5.23", scenario: "p16-dynamo-lora"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFeed(t, tc.engine)
			batches := load(t, tc.dir, tc.scenario)
			third := len(batches) / 3
			f.absorb(t, batches[:third])
			f.await(t, 1)
			f.show(2)
			f.await(t, 2)
			f.absorb(t, batches[third:2*third])
			f.await(t, 2)
			f.show(1)
			f.absorb(t, batches[2*third:])
			f.await(t, 1)
			f.show(2)
			f.await(t, 2)
			first, second := answers(t, f.replicas[0]), answers(t, f.replicas[1])
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("the replica from the beginning (-) and the late one (+):\n%s", diff)
			}
			if len(first) < 2 || len(first[1]) < 200 {
				t.Errorf("nothing was listed: %s", slices.Concat(first))
			}
		})
	}
}

// load returns the messages of a recording up to the flush that ends it, if any.
func load(t *testing.T, dir, scenario string) [][]byte {
	t.Helper()
	var recording *captures.Recording
	var err error
	if scenario == "" {
		recording, err = captures.LoadProcess(dir)
	} else {
		recording, err = captures.Load(dir, scenario)
	}
	if err != nil {
		t.Fatal(err)
	}
	var payloads [][]byte
	for _, frame := range recording.Frames {
		message, err := kvevents.ParseMessage(frame.Frames)
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, message.Payload)
	}
	return payloads[:lastState(t, payloads)]
}

// lastState returns the number of messages before the last clear, or all of them
// when much comes after it.
func lastState(t *testing.T, payloads [][]byte) int {
	t.Helper()
	var decoder kvevents.Decoder
	last := len(payloads)
	for i, payload := range payloads {
		batch, err := decoder.Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		cleared := slices.ContainsFunc(batch.Events, func(ev kvevents.Event) bool { return ev.Kind == kvevents.AllBlocksCleared })
		if cleared && i > len(payloads)*3/4 {
			last = min(last, i)
		}
	}
	return last
}

// absorb takes messages, each as one delta.
func (f *feed) absorb(t *testing.T, payloads [][]byte) {
	t.Helper()
	var decoder kvevents.Decoder
	for _, payload := range payloads {
		batch, err := decoder.Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		f.journal.Absorb(batch)
	}
}
