/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "time"

// TenantLimits bound what the index keeps of a tenant.
type TenantLimits struct {
	// MaxBlocks is the largest number of distinct blocks; negative means any number.
	MaxBlocks int64
	// Order says which blocks are forgotten first.
	Order Eviction
	// TTL forgets blocks that were neither announced nor looked up for so long, and
	// is how long inferred blocks are believed. 0 means no limit for the former and
	// Options.InferredTTL for the latter.
	TTL time.Duration
}

// noLimits hold for a tenant of whom nothing else was said.
var noLimits = TenantLimits{MaxBlocks: -1}

// SetTenantLimits changes the limits of a tenant; nil lifts them. What is over a
// limit is forgotten with the next changes and calls of Expire.
func (x *Index) SetTenantLimits(tenant string, l *TenantLimits) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l == nil {
		delete(x.limits, tenant)
		l = &noLimits
	} else {
		x.limits[tenant] = *l
	}
	if t := x.tenants.get(tenant); t != nil {
		t.limit(*l)
	}
}

// limit applies limits to a tenant that has holders.
func (t *tenant) limit(l TenantLimits) {
	t.limits = l
	t.order.eviction = l.Order
}

// shedStep is the most blocks that leave a run at once. A change may forget what it
// brought, and some more so that the index comes back to its limits, but not all
// that a table takes by growing: that would stop the writer for a millisecond.
const (
	shedStep   = 64
	moreSteps  = 8
	quotaSteps = 256
)

// shed forgets blocks until the index and a tenant are within their limits, after
// a change that brought some. Their holders are degraded from then on.
func (x *Index) shed(t *tenant, brought int) {
	for range quotaSteps + brought/shedStep {
		over := t.blocks - t.limits.MaxBlocks
		if t.limits.MaxBlocks < 0 || over <= 0 {
			break
		}
		x.shedOnce(t, int(min(shedStep, over)))
	}
	// Half the blocks of a step may be somebody else's as well, or leave a run behind.
	for range moreSteps + 2*brought/shedStep {
		if x.options.Memory <= 0 || x.arena.bytes() <= x.options.Memory {
			break
		}
		if largest := x.largest(); largest != nil {
			x.shedOnce(largest, shedStep)
		}
	}
}

// Cause is why blocks were forgotten.
type Cause uint8

// The causes.
const (
	// OverLimit: a tenant had more than its quota, or the index than its memory.
	OverLimit Cause = iota
	// Unused: nobody announced or looked up the block for the tenant's TTL.
	Unused
)

// Evicted returns how many blocks were forgotten so far for a cause and in an order,
// each once, however many holders it had. It never falls and takes no lock.
func (x *Index) Evicted(cause Cause, order Eviction) int64 {
	return x.evicted[cause][order].Load()
}

// brought is how many blocks changes store.
func brought(changes []Change) (n int) {
	for i := range changes {
		if changes[i].Op == Store {
			n += len(changes[i].Hashes)
		}
	}
	return n
}

// largest is the tenant with the most blocks.
func (x *Index) largest() *tenant {
	var largest *tenant
	for _, t := range x.tenants.all() {
		if t.blocks > 0 && (largest == nil || t.blocks > largest.blocks) {
			largest = t
		}
	}
	return largest
}

// shedOnce forgets at most n blocks of a tenant.
func (x *Index) shedOnce(t *tenant, n int) {
	number, loose := t.order.victim(&x.arena)
	if number == noRun {
		return
	}
	x.forget(number, min(n, loose), OverLimit, t.order.eviction)
}

// forget takes the last n blocks of a run from everybody, and counts them.
func (x *Index) forget(number uint32, n int, cause Cause, order Eviction) {
	x.evicted[cause][order].Add(int64(n))
	r := x.arena.run(number)
	d := x.directories[r.directory]
	end := r.length()
	e := edit{start: end - uint16(n), end: end, mask: maskMask}
	d.changes.Add(1)
	x.forgotten = append(x.forgotten[:0], x.arena.list(r.load())...)
	for i, iv := range x.forgotten {
		if unitOf(iv) == kids || endOf(iv) <= e.start || (i > 0 && unitOf(x.forgotten[i-1]) == unitOf(iv) && endOf(x.forgotten[i-1]) > e.start) {
			continue
		}
		x.forgetOf(d, number, e, unitOf(iv))
	}
	d.truncate(number)
	d.changes.Add(1)
}

// forgetOf takes blocks from a unit, and notes that its holder has more than the index.
func (x *Index) forgetOf(d *directory, number uint32, e edit, of uint32) {
	u := d.unit(of)
	if u == nil {
		e.unit = of
		d.edit(d.run(number), e, func(_, _, _, _ uint16) {})
		return
	}
	// First the note: no lookup may take for exact what is left.
	h := u.holding
	h.forgotten += int64(e.end - e.start)
	if h.session.current.Load() == h {
		x.noteSure(h.session)
		x.changed(h.session)
	}
	d.set(u, number, e)
}

// age forgets what a tenant's TTL is over for, a bounded number of blocks at a
// time. A beat stands for when it was: the marks say which beat was how long ago.
func (x *Index) age(t *tenant, now time.Time) {
	if t.limits.TTL <= 0 {
		t.marks = nil
		return
	}
	if n := len(t.marks); n == 0 || now.Sub(t.marks[n-1].at) >= t.limits.TTL/ttlMarks {
		t.marks = append(t.marks, mark{now, x.arena.beat.Load()})
	}
	for len(t.marks) > 1 && !t.marks[1].at.After(now.Add(-t.limits.TTL)) {
		t.marks = t.marks[1:]
	}
	if t.marks[0].at.After(now.Add(-t.limits.TTL)) {
		return
	}
	for range quotaSteps {
		number, loose := t.order.victim(&x.arena)
		if number == noRun || int32(uint32(x.arena.run(number).use.Load())-t.marks[0].beat) > 0 {
			return
		}
		x.forget(number, min(shedStep, loose), Unused, t.order.eviction)
	}
}

// ttlMarks is the number of marks in one TTL: blocks go at most a sixteenth late.
const ttlMarks = 16

// mark says which beat it was at a time.
type mark struct {
	at   time.Time
	beat uint32
}
