/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"math"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// participationInterval is how far status.indexParticipation may lag behind the
// index while its figures move by little. The status is stored, so following every
// event would cost a write each; the observation subresource is exact.
const participationInterval = time.Minute

// participate brings status.indexParticipation up to date.
func (j *judgement) participate() {
	index := j.facts.Index
	before := j.before.IndexParticipation
	switch {
	case index == nil:
	case index.Entry != nil:
		now := participationOf(index, before)
		if before == nil || j.worthWriting(before, now) {
			j.status.IndexParticipation = now
		}
	case before != nil && index.Complete:
		j.status.IndexParticipation = &v1alpha1.IndexParticipation{}
	}
}

// indexKnowsAll says whether an event that the index does not show has not
// happened.
func (j *judgement) indexKnowsAll() bool {
	index := j.facts.Index
	return index != nil && index.Complete && (index.Entry == nil || index.Entry.Complete)
}

// participationOf reads an entry of the index. One that is being rebuilt adds to
// what was known before and takes nothing away.
func participationOf(index *Index, before *v1alpha1.IndexParticipation) *v1alpha1.IndexParticipation {
	entry := index.Entry
	part := &v1alpha1.IndexParticipation{
		PrefixCount: entry.PrefixCount,
		LastEventAt: second(entry.LastEventAt),
		HitRate:     rate(entry.HitTokens, entry.QueryTokens),
		T2HitRate:   rate(entry.T2HitTokens, entry.T2QueryTokens),
	}
	if before == nil || index.Complete && entry.Complete {
		return part
	}
	part.PrefixCount = max(part.PrefixCount, before.PrefixCount)
	if part.LastEventAt == nil || before.LastEventAt != nil && part.LastEventAt.Before(before.LastEventAt) {
		part.LastEventAt = before.LastEventAt.DeepCopy()
	}
	if part.HitRate == nil {
		part.HitRate = before.HitRate
	}
	if part.T2HitRate == nil {
		part.T2HitRate = before.T2HitRate
	}
	return part
}

// worthWriting says whether a change of the figures is worth a write.
func (j *judgement) worthWriting(before, now *v1alpha1.IndexParticipation) bool {
	if before.LastEventAt == nil || now.LastEventAt == nil {
		return true
	}
	moved := now.LastEventAt.Sub(before.LastEventAt.Time)
	// Once no more events come, the figures settle on what they are.
	quiet := j.now.Sub(now.LastEventAt.Time)
	return moved <= 0 || moved >= participationInterval || quiet >= participationInterval ||
		movedMuch(before.PrefixCount, now.PrefixCount) || zero(before.T2HitRate) != zero(now.T2HitRate)
}

// movedMuch says whether a count has moved by more than a tenth.
func movedMuch(before, now int64) bool {
	return math.Abs(float64(now-before)) > 0.1*float64(before)
}

// zero tells a rate of nothing from one of something and from no rate at all.
func zero(rate *string) string {
	switch {
	case rate == nil:
		return "absent"
	case *rate == "0":
		return "zero"
	default:
		return "some"
	}
}

// rate is the share of queried tokens that were hits: a decimal with at most four
// digits, in which some never looks like none. Nil without queries.
func rate(hits, queries *int64) *string {
	if hits == nil || queries == nil || *queries <= 0 {
		return nil
	}
	const scale = 1e4
	share := math.Round(min(float64(max(*hits, 0))/float64(*queries), 1)*scale) / scale
	if *hits > 0 {
		share = max(share, 1/scale)
	}
	text := strconv.FormatFloat(share, 'f', -1, 64)
	return &text
}

// second drops what the API does not keep of a time.
func second(t *metav1.Time) *metav1.Time {
	if t == nil {
		return nil
	}
	whole := metav1.NewTime(t.Truncate(time.Second))
	return &whole
}
