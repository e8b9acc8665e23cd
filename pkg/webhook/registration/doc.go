/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package registration keeps the authority of the webhook's certificates where the
// cluster looks for it: in the MutatingWebhookConfiguration that names our Service.
//
// It creates no configuration and writes nothing but the bundle, and only where the
// webhook is ours. A bundle that somebody else manages is left alone and reported.
package registration
