/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import "fmt"

// explain says why an answer is what it is, when that was asked for.
func (l *lookup) explain(out *Response, why string) {
	if !l.request.Explain {
		return
	}
	out.Explanation = why
	for i := range out.Replicas {
		r := &out.Replicas[i]
		r.Explanation = r.reasoning(out)
	}
}

// reasoning says in one line why a replica stands where it does.
func (r *Replica) reasoning(out *Response) string {
	text := fmt.Sprintf("reuses %d tokens", r.Tokens)
	if out.PromptTokens > 0 {
		text = fmt.Sprintf("reuses %d of %d tokens", r.Tokens, out.PromptTokens)
	}
	if r.Tokens > 0 {
		text += fmt.Sprintf(" (%d blocks, T%d)", r.Blocks, r.Tier)
	}
	if !r.Exact {
		text += ", at least"
	}
	if r.Inferred {
		text += ", partly inferred"
	}
	text += fmt.Sprintf("; %s at sequence %d", r.State, r.Sequence)
	queue := "queue"
	if !r.LoadKnown {
		queue = "queue (load unknown, taken as the others' mean)"
	}
	text += fmt.Sprintf("; first token in %.1f ms: %.1f %s, %.1f reload, %.1f prefill",
		r.Cost.TTFT(), r.Cost.Queue, queue, r.Cost.Reload, r.Cost.Prefill)
	switch out.Reason {
	case PrefixMatch, TenantHot:
		return text + fmt.Sprintf("; saves %.1f ms with probability %g", r.Score, r.HitProbability)
	case AffinityHint, NoHint, PolicyRequiresChain, Timeout, UnknownTenant, UnknownModel, UnknownHashScheme:
	}
	return text
}
