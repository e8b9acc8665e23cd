/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/test/captures"
)

// benchBlock is the block size of vLLM on GPUs.
const benchBlock = 16

// benchStore returns a store of a chain of its own.
func benchStore(seed uint64, blocks int) kvevents.Event {
	ev := kvevents.Event{Kind: kvevents.BlockStored, BlockSize: benchBlock, Medium: "GPU"}
	for i := range uint64(blocks) {
		ev.Hashes = append(ev.Hashes, kvevents.IntHash(seed<<24|i))
		for j := range uint64(benchBlock) {
			ev.Tokens = append(ev.Tokens, uint32(seed*7919+i*benchBlock+j))
		}
	}
	return ev
}

// processor returns the processor time that the process has used: other load on the
// machine tells less in it than in the time of the clock.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkChurn stores a chain of 64 blocks and evicts the one stored some chains
// before, as a full engine does. It reports the processor time of one block stored,
// and of one that is evicted and forgotten.
func BenchmarkChurn(b *testing.B) {
	const blocks = 64
	for _, chains := range []int{1000, 16000} {
		b.Run(fmt.Sprintf("resident=%d", chains*blocks), func(b *testing.B) {
			m := New(Options{Limits: Limits{Ghosts: 32 * blocks}})
			stores := make([]kvevents.Event, chains+chains/4)
			removals := make([]kvevents.Event, len(stores))
			for i := range stores {
				stores[i] = benchStore(uint64(i), blocks)
				removals[i] = kvevents.Event{Kind: kvevents.BlockRemoved, Hashes: stores[i].Hashes, Medium: "GPU"}
			}
			for i := range chains {
				m.Apply(&kvevents.Batch{Events: stores[i : i+1]})
			}
			const rounds = 100
			var removing, storing time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += rounds {
				begin := processor(b)
				for i := done; i < done+rounds; i++ {
					m.Apply(&kvevents.Batch{Events: removals[i%len(stores) : i%len(stores)+1]})
				}
				middle := processor(b)
				for i := done; i < done+rounds; i++ {
					at := (i + chains) % len(stores)
					m.Apply(&kvevents.Batch{Events: stores[at : at+1]})
				}
				removing, storing = removing+middle-begin, storing+processor(b)-middle
			}
			total := float64((b.N + rounds - 1) / rounds * rounds * blocks)
			b.ReportMetric(float64(storing.Nanoseconds())/total, "cpu-ns/stored")
			b.ReportMetric(float64(removing.Nanoseconds())/total, "cpu-ns/removed")
		})
	}
}

// BenchmarkRestore stores again what is there: the work on a block that brings no
// news.
func BenchmarkRestore(b *testing.B) {
	const blocks = 64
	m := New(Options{})
	events := []kvevents.Event{benchStore(1, blocks)}
	events = append(events, kvevents.Event{Kind: kvevents.BlockRemoved, Hashes: events[0].Hashes, Medium: "GPU"})
	m.Apply(&kvevents.Batch{Events: events[:1]})
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		m.Apply(&kvevents.Batch{Events: events})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*blocks), "ns/block")
}

// BenchmarkRecording decodes and applies all messages of a recorded hybrid engine.
func BenchmarkRecording(b *testing.B) {
	recording, err := captures.LoadProcess("vllm/0.32.0-hybrid")
	if err != nil {
		b.Fatal(err)
	}
	var decoder kvevents.Decoder
	b.ReportAllocs()
	for range b.N {
		m := New(Options{})
		for _, frame := range recording.Frames {
			batch, err := decoder.Decode(frame.Frames[2])
			if err != nil {
				b.Fatal(err)
			}
			m.Apply(batch)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recording.Frames)), "ns/message")
}

// BenchmarkSnapshot takes a snapshot of 64,000 blocks.
func BenchmarkSnapshot(b *testing.B) {
	m := New(Options{})
	for i := range uint64(1000) {
		m.Apply(&kvevents.Batch{Events: []kvevents.Event{benchStore(i, 64)}})
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		m.Snapshot()
	}
}
