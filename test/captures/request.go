/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package captures

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
)

// opMarker is the operation of a line that names the part that follows.
const opMarker = "scenario"

// tokenIDs are generated tokens; of a failed request the log holds a text in
// their place, which counts as none.
type tokenIDs []uint32

// UnmarshalJSON reads a list of numbers or skips a text.
func (t *tokenIDs) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		return nil
	}
	return json.Unmarshal(raw, (*[]uint32)(t))
}

// requestLine is the union of the three log formats: vLLM's servers and
// in-process runs, SGLang's servers, and SGLang's trees in process.
type requestLine struct {
	Op     string `json:"op"`
	Name   string `json:"name"`
	Status int    `json:"status"`

	// vLLM, ms.
	SentMS int64 `json:"sent_ms"`
	DoneMS int64 `json:"done_ms"`
	// SGLang, s.
	SentS float64 `json:"t_send"`
	DoneS float64 `json:"t_done"`

	Request requestBody `json:"request"`

	OutputTokenIDs tokenIDs      `json:"output_token_ids"` // vLLM
	OutputIDs      []uint32      `json:"output_ids"`       // SGLang
	CachedTokens   *int          `json:"cached_tokens"`
	CachedDetails  cachedDetails `json:"cached_tokens_details"`
	Rank           *int          `json:"dp_rank"`

	// In process.
	Tokens        []uint32 `json:"tokens"`
	ExtraKey      string   `json:"extra_key"`
	AlreadyCached *int     `json:"already_cached"`
	HitTokens     *int     `json:"hit_tokens"`
	EventsTaken   int      `json:"events_taken"`
	TreeRank      *int     `json:"attn_dp_rank"`
}

// requestBody is the union of what was sent to the two engines.
type requestBody struct {
	// vLLM
	Model  string   `json:"model"`
	Prompt []uint32 `json:"prompt"`
	// SGLang
	InputIDs  []uint32 `json:"input_ids"`
	LoRAPath  string   `json:"lora_path"`
	LoRAName  string   `json:"lora_name"`
	ExtraKey  string   `json:"extra_key"`
	SessionID string   `json:"session_id"`
	// both
	CacheSalt string `json:"cache_salt"`
}

// cachedDetails splits SGLang's cached tokens by tier.
type cachedDetails struct {
	Host int `json:"host"`
}

// request brings a line into the common form.
func (l requestLine) request() Request {
	r := Request{
		Op:           operation(l.Op),
		Name:         l.Request.LoRAName,
		SentMS:       cmp.Or(l.SentMS, millis(l.SentS)),
		DoneMS:       cmp.Or(l.DoneMS, millis(l.DoneS)),
		Prompt:       slices.Concat(l.Request.Prompt, l.Request.InputIDs, l.Tokens),
		OutputTokens: slices.Concat([]uint32(l.OutputTokenIDs), l.OutputIDs),
		Model:        BaseModel,
		Adapter:      l.Request.LoRAPath,
		CacheSalt:    l.Request.CacheSalt,
		ExtraKey:     cmp.Or(l.Request.ExtraKey, l.ExtraKey),
		SessionID:    l.Request.SessionID,
		Rank:         cmp.Or(l.Rank, l.TreeRank),
		CachedTokens: l.CachedTokens,
		HostTokens:   l.CachedDetails.Host,
		TreeTokens:   cmp.Or(l.AlreadyCached, l.HitTokens),
		Status:       l.Status,
	}
	// vLLM serves an adapter as a model of its own.
	if served := l.Request.Model; served != "" && served != BaseModel {
		r.Adapter = served
	}
	if r.Op == OpGenerate && r.CachedTokens == nil && r.Status == http.StatusOK {
		r.CachedTokens = new(int)
	}
	// In process every operation with events sent them as one message.
	if l.EventsTaken > 0 {
		r.batches = 1
	}
	return r
}

// operation returns the common word for what the recorders call differently.
func operation(op string) string {
	switch op {
	case "completion", "generate":
		return OpGenerate
	case "reset_prefix_cache", "flush_cache", "reset":
		return OpReset
	default:
		return op
	}
}

// millis converts seconds. The logs hold three decimals, which a float64 does
// not hold exactly.
func millis(seconds float64) int64 {
	return int64(math.Round(seconds * 1000))
}
