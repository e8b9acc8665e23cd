/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"fmt"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// Bounds of a hello that are far above what any engine has.
const (
	maxAdapters = 4096
	maxRank     = 1 << 16
)

// helloOf checks a hello and turns it into the index's form. An empty namespace
// of the holder is that of its backend. Whether the caller may speak for the
// tenant, the holder and its backend is decided after that. The error says what is
// malformed.
func helloOf(h *pb.Hello) (index.Hello, error) {
	out := index.Hello{
		Holder:         index.Holder{Namespace: h.GetHolder().GetNamespace(), Pod: h.GetHolder().GetPod(), Rank: h.GetHolder().GetRank()},
		Backend:        index.Backend{Namespace: h.GetBackend().GetNamespace(), Name: h.GetBackend().GetName()},
		Tenant:         h.GetTenantId(),
		Model:          h.GetModelId(),
		HashScheme:     h.GetHashScheme(),
		Engine:         h.GetEngine(),
		Epoch:          h.GetEpoch(),
		OldestSequence: h.GetOldestSequence(),
		LastSequence:   h.GetLastSequence(),
		ClientVersion:  h.GetClientVersion(),
	}
	if out.Backend != (index.Backend{}) && out.Holder.Namespace == "" {
		out.Holder.Namespace = out.Backend.Namespace
	}
	if err := firstError(checkHolder(&out), checkSubject(&out), checkAdapters(h.GetAdapters())); err != nil {
		return index.Hello{}, err
	}
	return out, nil
}

// checkHolder takes a holder by any name that can be shown, because an engine
// need not run in a Pod. A backend is an object of the API.
func checkHolder(h *index.Hello) error {
	if h.Holder.Rank >= maxRank {
		return invalid("hello.holder.rank", "%d, want less than %d", h.Holder.Rank, maxRank)
	}
	if h.Backend != (index.Backend{}) {
		if err := firstError(
			checkNamespace("hello.backend.namespace", h.Backend.Namespace),
			checkSubdomain("hello.backend.name", h.Backend.Name),
		); err != nil {
			return err
		}
	}
	return firstError(
		checkPathElement("hello.holder.namespace", h.Holder.Namespace),
		checkWord("hello.holder.pod", h.Holder.Pod, maxWordBytes),
		checkPathElement("hello.holder.pod", h.Holder.Pod),
	)
}

func checkSubject(h *index.Hello) error {
	if h.Epoch == 0 {
		return invalid("hello.epoch", "is required and above 0")
	}
	if h.OldestSequence > h.LastSequence && h.OldestSequence-h.LastSequence > 1 {
		return invalid("hello.oldest_sequence", "%d lies behind last_sequence %d", h.OldestSequence, h.LastSequence)
	}
	return firstError(
		checkWord("hello.tenant_id", h.Tenant, maxWordBytes),
		checkWord("hello.model_id", h.Model, maxNameBytes),
		checkWord("hello.hash_scheme", h.HashScheme, maxWordBytes),
		checkText("hello.engine", h.Engine, maxWordBytes),
		checkText("hello.client_version", h.ClientVersion, maxWordBytes),
	)
}

func checkAdapters(adapters []string) error {
	if len(adapters) > maxAdapters {
		return invalid("hello.adapters", "%d names, at most %d are taken", len(adapters), maxAdapters)
	}
	for i, name := range adapters {
		if err := checkWord(fmt.Sprintf("hello.adapters[%d]", i), name, maxNameBytes); err != nil {
			return err
		}
	}
	return nil
}
