/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"math/rand/v2"
	"testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/test/mutation"
)

// dice makes choices out of bytes, so that a fuzzer can search among histories.
type dice struct {
	bytes []byte
	at    int
}

func (d *dice) done() bool { return d.at >= len(d.bytes) }

// roll returns a number below n.
func (d *dice) roll(n int) int {
	if d.done() {
		return 0
	}
	d.at++
	return int(d.bytes[d.at-1]) % n
}

// event makes an event of few hashes, tokens, groups and media, so that they meet
// in every combination; most of them are nothing that an engine would send.
func (d *dice) event() kvevents.Event {
	switch kind := d.roll(16); {
	case kind == 0:
		return cleared()
	case kind < 6:
		ev := removed(d.hashes(), medium(d.medium()))
		d.group(&ev)
		if d.roll(8) == 0 {
			ev.RemainingCopies = []int64{int64(d.roll(4)) - 1}
		}
		return ev
	default:
		return d.stored()
	}
}

func (d *dice) stored() kvevents.Event {
	ev := stored(d.hashes(), nil, medium(d.medium()))
	blocks := len(ev.Hashes) + d.roll(4) - 1
	for range blocks {
		ev.Tokens = append(ev.Tokens, tokensOf(uint32(d.roll(5)))...)
	}
	if d.roll(12) == 0 {
		ev.Tokens = append(ev.Tokens, 1)
	}
	if d.roll(12) == 0 {
		ev.BlockSize = []int{0, -1, 1, 2 * testBlock, 1 << 30}[d.roll(5)]
	}
	if d.roll(3) > 0 {
		ev.Parent, ev.HasParent = kvevents.IntHash(uint64(d.roll(12))), true
	}
	d.group(&ev)
	ev.LoRAName = []string{"", "", "", "l", "\x00"}[d.roll(5)]
	if d.roll(4) == 0 {
		for range d.roll(4) {
			ev.ExtraKeys = append(ev.ExtraKeys, [][]kvevents.ExtraKey{nil, text("l"), text("s"), {image("i", 1)}, {{Kind: kvevents.ExtraRaw, Bytes: []byte{1}}}}[d.roll(5)])
		}
	}
	return ev
}

func (d *dice) hashes() []uint64 {
	var hashes []uint64
	for range d.roll(4) {
		hashes = append(hashes, uint64(d.roll(12)))
	}
	return hashes
}

func (d *dice) medium() string {
	return []string{"GPU", "GPU", "GPU", "GPU", "CPU", "DISK", "cpu", "TAPE"}[d.roll(8)]
}

func (d *dice) group(ev *kvevents.Event) {
	index := d.roll(6)
	if index == 5 {
		return
	}
	ev.HasGroup, ev.Group = true, []int{0, 1, 2, 3, -1}[index]
	ev.SpecKind = []string{"full_attention", "sliding_window", "mamba", "something_new", "cross_attention"}[index]
	ev.SlidingWindow = 9
}

// play sends the history that the bytes stand for to a mirror with small limits,
// and checks after every batch that its changes fit together, that the snapshot
// says the same, and that all counts are right.
func (d *dice) play(t testing.TB) {
	opts := Options{
		Engine: []Engine{VLLM, SGLang}[d.roll(2)], Removals: RemovalRule(d.roll(3)), KeepRemoved: d.roll(2) == 0,
		Limits: Limits{Blocks: 10 + d.roll(20), Ghosts: 1 + d.roll(6), Unplaced: 1 + d.roll(6), Scopes: 1 + d.roll(4)},
	}
	m, h := New(opts), newHolder()
	m.SetCapacity(int64(d.roll(20)))
	for !d.done() {
		for range 1 + d.roll(3) {
			var batch kvevents.Batch
			for range 1 + d.roll(4) {
				batch.Events = append(batch.Events, d.event())
			}
			m.Absorb(&batch)
		}
		if err := h.apply(m.Flush()); err != nil {
			t.Fatal(err)
		}
		m.checkInvariants(t)
		(&rig{Mirror: m, holder: h}).checkSnapshot(t)
	}
	m.Absorb(&kvevents.Batch{Events: []kvevents.Event{cleared()}})
	if err := h.apply(m.Flush()); err != nil {
		t.Fatal(err)
	}
	if len(h.places) > 0 {
		t.Fatalf("after a clear the holder has %v", h.places)
	}
}

func FuzzMirror(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for seed := range uint64(8) {
		corpus.Add(randomBytes(seed, 200))
	}
	corpus.Fuzz(func(t *testing.T, history []byte) { (&dice{bytes: history}).play(t) })
}

func TestRandomHistories(t *testing.T) {
	for seed := range uint64(1000) {
		(&dice{bytes: randomBytes(seed, 400)}).play(t)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomBytes(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, 1))
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return bytes
}
