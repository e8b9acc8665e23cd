/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// textOnly offers only JSON and YAML of what a serializer offers.
//
// A media type that is offered has to work: our kinds have no protobuf form,
// and a client that prefers protobuf (the namespace controller is one) gets a
// 406 for an offer that cannot be kept, although it would take JSON as well.
type textOnly struct {
	runtime.NegotiatedSerializer
}

// SupportedMediaTypes implements runtime.NegotiatedSerializer.
func (s textOnly) SupportedMediaTypes() []runtime.SerializerInfo {
	all := s.NegotiatedSerializer.SupportedMediaTypes()
	return slices.DeleteFunc(slices.Clone(all), func(info runtime.SerializerInfo) bool {
		return info.MediaType != runtime.ContentTypeJSON && info.MediaType != runtime.ContentTypeYAML
	})
}
