//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"os"
	"path/filepath"
)

const (
	// blockSize is the smallest that vLLM's attention on CPUs takes.
	blockSize = 32
	// vocabulary is the number of token ids of every model.
	vocabulary = 1024
)

// model is what an engine serves: an architecture with random weights.
type model struct {
	name string
	// config is the model's config.json.
	config string
	// maxTokens is the longest prompt with its answer; blocks is the size of the
	// pool, in which only few such prompts have room.
	maxTokens, blocks int
}

// models are the kinds of caches that are held against the engine.
func models() []model {
	return []model{
		{name: "plain", config: plain, maxTokens: 1024, blocks: 48},
		{name: "hybrid", config: hybrid, maxTokens: 512, blocks: 72},
	}
}

// write makes the directory that vLLM loads the model from.
func (m model) write(parent string) (string, error) {
	dir := filepath.Join(parent, m.name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "config.json"), []byte(m.config), 0o600)
}

// plain has full attention in every layer: one group.
const plain = `{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float32",
  "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
  "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32,
  "vocab_size": 1024, "max_position_embeddings": 1024, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
  "hidden_act": "silu", "tie_word_embeddings": false, "bos_token_id": 1, "eos_token_id": 2
}`

// hybrid has windows of two blocks in four of six layers: one group with full
// attention and two with windows.
const hybrid = `{
  "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "torch_dtype": "float32",
  "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 6,
  "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 32, "query_pre_attn_scalar": 32,
  "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
  "sliding_window": 64, "rope_local_base_freq": 10000.0,
  "vocab_size": 1024, "max_position_embeddings": 1024, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
  "hidden_activation": "gelu_pytorch_tanh", "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0
}`
