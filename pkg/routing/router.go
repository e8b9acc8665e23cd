/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"sync"

	"inferencecache.io/inference-cache/pkg/index"
)

// Index is what a lookup reads.
type Index interface {
	BlockSizes(tenant, model, scheme, adapter string) ([]uint32, index.Knowledge)
	ChainsTo(tenant, model, scheme, adapter string, hash uint64) ([]index.Chain, index.Knowledge)
	Lookup(q *index.Query, dst []index.Hit) ([]index.Hit, index.Knowledge)
	Serving(tenant, model, scheme string, dst []*index.Session) ([]*index.Session, index.Knowledge)
	// Standings grows after every change of what Serving returns or of the State or
	// the Stats of a session in it.
	Standings() uint64
}

// Tokenizer turns a prompt into the token ids that the model's engine would see.
// It is called concurrently and ends when ctx does.
type Tokenizer interface {
	Tokenize(ctx context.Context, model, prompt string) ([]uint32, error)
}

// Config is what a Router reads.
type Config struct {
	// Index is asked who holds a prompt. Required.
	Index Index
	// Policies are those of the tenants' namespaces; nil means that there are none.
	Policies Policies
	// Tokenizer reads prompts that come as text; nil means that none can be read.
	Tokenizer Tokenizer
}

// Router answers lookups. It is safe for concurrent use.
type Router struct {
	config       Config
	unrestricted *Policy
	scratches    sync.Pool
}

// New returns a router.
func New(c Config) *Router {
	return &Router{config: c, unrestricted: Unrestricted(), scratches: sync.Pool{New: func() any { return new(scratch) }}}
}

// Policy returns the policy that lookups of a tenant are answered under.
func (r *Router) Policy(tenant string) *Policy {
	if r.config.Policies != nil {
		if p := r.config.Policies.Policy(tenant); p != nil {
			return p
		}
	}
	return r.unrestricted
}

// Route answers one lookup. The context's deadline makes it answer Timeout
// instead of going on.
func (r *Router) Route(ctx context.Context, q *Request) Response {
	sc := r.scratches.Get().(*scratch)
	l := lookup{Router: r, scratch: sc, ctx: ctx, request: q, rules: r.Policy(q.Tenant)}
	out := l.answer()
	sc.reset()
	r.scratches.Put(sc)
	return out
}

// lookup is one question on its way to its answer.
type lookup struct {
	*Router
	*scratch

	ctx     context.Context //nolint:containedctx // it lives as long as the call
	request *Request
	rules   *Policy
	in      input
}

// answer takes the steps of a lookup in their order; the first that can say
// something ends it.
func (l *lookup) answer() Response {
	q := l.request
	switch {
	case l.ctx.Err() != nil:
		return l.timeout()
	case q.Malformed != "":
		return l.refuse(q.Malformed)
	case l.rules.RequireChain && len(q.Chain) == 0:
		return l.end(PolicyRequiresChain, "the policy takes chains of block hashes only")
	}
	if out, refused := l.resolve(); refused {
		return out
	}
	if l.ctx.Err() != nil {
		return l.timeout()
	}
	out := l.search()
	if l.ctx.Err() != nil {
		return l.timeout()
	}
	return out
}

// search asks the index and ranks what it knows.
func (l *lookup) search() Response {
	q := l.request
	if l.tooShort() {
		if reason, ok := unknown(l.survey()); ok {
			return l.end(reason, "nobody reports for this scope")
		}
		return l.fallBack("the prompt is shorter than the policy's minimumPrefixTokens")
	}
	l.query = index.Query{
		Tenant: q.Tenant, Model: q.Model, HashScheme: q.HashScheme, Adapter: q.Adapter,
		Chains: l.chains, PromptTokens: l.in.tokens, Quiet: q.Quiet,
	}
	var known index.Knowledge
	l.hits, known = l.config.Index.Lookup(&l.query, l.hits[:0])
	if reason, ok := unknown(known); ok {
		return l.end(reason, "nobody reports for this scope")
	}
	if !l.surveyed() {
		l.survey()
	}
	why := l.gate()
	if why == "" {
		l.rank()
		if out, ok := l.matches(); ok {
			return out
		}
		why = "no match saves what the policy's routingFloorScore asks for"
		l.dropHits(0)
	}
	return l.fallBack(why)
}

// refuse answers an input that cannot be looked up, and says why whoever asks. Where
// the policy requires a chain, a chain that is none is as good as a missing one.
func (l *lookup) refuse(why string) Response {
	if l.rules.RequireChain {
		return Response{Reason: PolicyRequiresChain, Explanation: why}
	}
	return Response{Reason: NoHint, Explanation: why}
}

// timeout is the answer after the deadline. What was found out is not in it.
func (l *lookup) timeout() Response { return l.end(Timeout, "the deadline passed") }

// end is an answer without replicas.
func (l *lookup) end(reason Reason, why string) Response {
	out := Response{Reason: reason, PromptTokens: l.in.tokens, Tokens: l.in.echo}
	if reason == Timeout {
		out.PromptTokens, out.Tokens = 0, nil
	}
	if l.request.Explain {
		out.Explanation = why
	}
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
