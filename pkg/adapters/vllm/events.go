/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

// defaultEventsEndpoint is where an engine publishes when it is not told where.
const defaultEventsEndpoint = "tcp://*:5557"
