/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"fmt"
	"slices"

	"inferencecache.io/inference-cache/pkg/index"
)

// Route answers one lookup.
func Route(ctx context.Context, x Index, r *Request) Response {
	if ctx.Err() != nil {
		return Response{Reason: Timeout}
	}
	in := resolve(x, r)
	out := Response{PromptTokens: in.tokens}
	if in.refusal != "" {
		out.Reason, out.Explanation = NoHint, in.refusal
		return out
	}
	if reason, ok := unknown(in.known); ok {
		out.Reason = reason
		out.explain(r, "nobody reports for this scope")
		return out
	}
	if ctx.Err() != nil {
		return Response{Reason: Timeout}
	}
	hits, _ := x.Lookup(&index.Query{
		Tenant: r.Tenant, Model: r.Model, HashScheme: r.HashScheme, Adapter: r.Adapter,
		Chains: in.chains, PromptTokens: in.tokens,
	}, nil)
	matches := make([]Match, len(hits))
	for i := range hits {
		matches[i] = matchOf(&hits[i])
	}
	out.Replicas = rank(r, in, matches)
	if len(out.Replicas) > 0 && out.Replicas[0].Tokens > 0 {
		out.Reason = PrefixMatch
	} else {
		out.fallBack(x, r, in)
	}
	out.finish(r)
	return out
}

// unknown maps what the index has not heard of to a reason.
func unknown(k index.Knowledge) (Reason, bool) {
	switch k {
	case index.Empty:
		return NoHint, true
	case index.UnknownTenant:
		return UnknownTenant, true
	case index.UnknownModel:
		return UnknownModel, true
	case index.UnknownHashScheme:
		return UnknownHashScheme, true
	case index.Known:
	}
	return "", false
}

// fallBack fills an answer for a prompt that nobody certainly holds. Replicas
// that may hold it stay in the answer, with no tokens.
func (o *Response) fallBack(x Index, r *Request, in resolved) {
	serving, _ := x.Serving(r.Tenant, r.Model, r.HashScheme, nil)
	if r.PrefixHash != nil && len(r.Chain) == 0 {
		if hot := hotReplicas(serving); len(hot) > 0 {
			o.Reason, o.Replicas = TenantHot, hot
			return
		}
	}
	pick, ok := affine(in, serving)
	if !ok {
		o.Reason = NoHint
		return
	}
	others := slices.DeleteFunc(o.Replicas, func(p Replica) bool { return p.Holder == pick.Holder })
	if len(others) < len(o.Replicas) {
		pick.Exact = false
	}
	o.Reason, o.Replicas = AffinityHint, append([]Replica{pick}, others...)
}

// finish cuts the answer to size and explains it.
func (o *Response) finish(r *Request) {
	total := len(o.Replicas)
	if r.TopK > 0 && total > r.TopK {
		o.Replicas = o.Replicas[:r.TopK]
	}
	if !r.Explain {
		return
	}
	for i := range o.Replicas {
		o.Replicas[i].Explanation = o.Replicas[i].reasoning(o.PromptTokens)
	}
	switch o.Reason {
	case PrefixMatch:
		o.explain(r, fmt.Sprintf("ordered by reused tokens, then tier, then load; replicas: %d", total))
	case AffinityHint:
		o.explain(r, "nobody certainly holds the prompt; the replica follows from its head")
	case TenantHot:
		o.explain(r, "nobody holds the prefix; these replicas' own statistics show a working cache")
	case NoHint:
		o.explain(r, "nobody holds the prompt, and it is too short to place by its head or nobody serves the model")
	case Timeout, UnknownTenant, UnknownModel, UnknownHashScheme:
	}
}

func (o *Response) explain(r *Request, text string) {
	if r.Explain {
		o.Explanation = text
	}
}

// reasoning says in one line why a replica stands where it does.
func (p *Replica) reasoning(promptTokens int) string {
	text := fmt.Sprintf("reuses %d tokens", p.Tokens)
	if promptTokens > 0 {
		text = fmt.Sprintf("reuses %d of %d tokens", p.Tokens, promptTokens)
	}
	if p.Tokens > 0 {
		text += fmt.Sprintf(" (%d blocks, T%d)", p.Blocks, p.Tier)
	}
	if !p.Exact {
		text += ", at least"
	}
	if p.Inferred {
		text += ", partly inferred"
	}
	text += fmt.Sprintf("; %s at sequence %d", p.State, p.Sequence)
	if load, ok := loadOf(p.Stats); ok {
		text += fmt.Sprintf("; %d requests running or waiting", load)
	}
	return text
}
