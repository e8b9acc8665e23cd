//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestDiscoveryIsCurrent holds that the cluster itself has asked our server and does
// not pass on an older answer.
func TestDiscoveryIsCurrent(t *testing.T) {
	t.Parallel()
	client := newClients(t).Discovery().RESTClient()
	body, err := client.Get().AbsPath("/apis").SetHeader("Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var discovered apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(body, &discovered); err != nil {
		t.Fatal(err)
	}
	for _, group := range discovered.Items {
		if group.Name != v1alpha1.GroupName {
			continue
		}
		if len(group.Versions) != 1 || group.Versions[0].Freshness != apidiscoveryv2.DiscoveryFreshnessCurrent || len(group.Versions[0].Resources) < 5 {
			t.Errorf("the group is not whole: %+v", group.Versions)
		}
		return
	}
	t.Errorf("the cluster discovers no %s", v1alpha1.GroupName)
}

// TestOpenAPIv2IsMerged holds that the cluster's own document, which older clients
// read, has our paths and kinds. The cluster fetches it in the background.
func TestOpenAPIv2IsMerged(t *testing.T) {
	t.Parallel()
	discovery := newClients(t).Discovery()
	eventually(t, func() error {
		document, err := discovery.OpenAPISchema()
		if err != nil {
			return err
		}
		for _, kind := range []string{"CacheBackend", "CachePolicy", "CacheTenant", "CacheIndex", "RouteLookup"} {
			if err := defines(document, kind); err != nil {
				return err
			}
		}
		return nil
	})
}

// defines is an error if a document has no definition for a kind of ours.
func defines(document *openapiv2.Document, kind string) error {
	for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
		if strings.Contains(definition.Name, "inference") && strings.HasSuffix(definition.Name, "."+kind) {
			return nil
		}
	}
	return fmt.Errorf("OpenAPI v2 has no %s", kind)
}
