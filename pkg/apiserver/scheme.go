/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
)

// Codecs knows the types that are served and how they are written.
type Codecs struct {
	// Scheme holds the group, the Scale kind and the unversioned kinds of the
	// protocol itself.
	Scheme *runtime.Scheme
	// Factory makes codecs for Scheme. It offers every media type that the
	// library knows; what clients get goes through Negotiated.
	Factory serializer.CodecFactory
}

// NewCodecs returns a new scheme with everything the server needs installed.
func NewCodecs() Codecs {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	// Scale is the kind of the scale subresource; it has no internal version.
	utilruntime.Must(autoscalingv1.AddToScheme(scheme))
	// The options kinds (ListOptions and so on) are looked up under "v1".
	v1 := schema.GroupVersion{Version: "v1"}
	metav1.AddToGroupVersion(scheme, v1)
	scheme.AddUnversionedTypes(v1,
		&metav1.Status{},
		&metav1.APIVersions{},
		&metav1.APIGroupList{},
		&metav1.APIGroup{},
		&metav1.APIResourceList{},
	)
	factory := serializer.NewCodecFactory(scheme, serializer.WithStreamingCollectionEncodingToJSON())
	return Codecs{Scheme: scheme, Factory: factory}
}

// Negotiated returns what clients may choose from.
func (c Codecs) Negotiated() runtime.NegotiatedSerializer {
	return textOnly{c.Factory}
}
