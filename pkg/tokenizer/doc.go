/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tokenizer turns the text of a prompt into token ids by asking an HTTP
// tokenizer, for lookups that come with text only.
//
// The protocol is that of the /tokenize endpoint of vLLM, which SGLang serves as
// well: a POST of a JSON object that is answered with the ids. So the tokenizer of
// a model can be one of its engines, which cannot disagree with itself.
//
// What a text means depends on the engine's endpoint that the router will use. The
// default is what /v1/completions does: the text is the prompt, and special tokens
// such as the one that begins a text are added. With [Endpoint.Chat] the text is
// taken as the only message of a user, to which the model's chat template and the
// start of the answer are added, as /v1/chat/completions does. A conversation of
// several messages, with tools or with images, is more than a text can say: its
// router renders and tokenizes it and asks with token ids.
//
// A tokenizer is configured by the operator but not trusted to behave. The size of
// its answer, the number of ids, their range and the number of questions in flight
// are bounded, an answer that contradicts itself is refused, and redirects never
// leave the configured host. Time is bounded by the caller's context. Errors never
// quote what a tokenizer said, which may repeat the prompt.
package tokenizer
