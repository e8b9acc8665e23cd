/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"io"
	"mime"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// get reads a path of the server with the given Accept header and returns the
// status code, the media type of the answer and its body.
func (s *suite) get(t *testing.T, path, accept string) (int, string, []byte) {
	t.Helper()
	client, err := rest.HTTPClientFor(s.server.Config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.Config.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		request.Header.Set("Accept", accept)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("media type of %s: %v", path, err)
	}
	return response.StatusCode, mediaType, body
}

// listPath returns the path of all objects of a resource.
func listPath(resource metav1.APIResource) string {
	return "/apis/" + v1alpha1.SchemeGroupVersion.String() + "/" + resource.Name
}

// testMediaTypes asks for every list in the forms that clients ask for. What is
// not offered is skipped in favour of the next choice, and refused when there is
// none: an offer that cannot be kept stops the deletion of namespaces.
func testMediaTypes(t *testing.T, s *suite) {
	const (
		json     = "application/json"
		yaml     = "application/yaml"
		protobuf = "application/vnd.kubernetes.protobuf"
	)
	matrix := map[string]struct {
		accept   string
		wantCode int
		wantType string
	}{
		"none":                   {accept: "", wantCode: 200, wantType: json},
		"anything":               {accept: "*/*", wantCode: 200, wantType: json},
		"JSON":                   {accept: json, wantCode: 200, wantType: json},
		"YAML":                   {accept: yaml, wantCode: 200, wantType: yaml},
		"protobuf or JSON":       {accept: protobuf + "," + json, wantCode: 200, wantType: json},
		"protobuf or anything":   {accept: protobuf + ",*/*", wantCode: 200, wantType: json},
		"CBOR or JSON":           {accept: "application/cbor," + json, wantCode: 200, wantType: json},
		"protobuf only":          {accept: protobuf, wantCode: 406, wantType: json},
		"unknown only":           {accept: "text/csv", wantCode: 406, wantType: json},
		"table":                  {accept: json + ";as=Table;v=v1;g=meta.k8s.io", wantCode: 200, wantType: json},
		"table or JSON":          {accept: json + ";as=Table;v=v1;g=meta.k8s.io," + json, wantCode: 200, wantType: json},
		"protobuf table or JSON": {accept: protobuf + ";as=Table;v=v1;g=meta.k8s.io," + json, wantCode: 200, wantType: json},
		"metadata":               {accept: json + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", wantCode: 200, wantType: json},
		// Metadata alone has a protobuf form whatever the kind is. The garbage
		// collector asks like this, and the library keeps its word.
		"protobuf or JSON metadata": {accept: protobuf + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + json + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", wantCode: 200, wantType: protobuf},
	}
	for _, resource := range s.with(t, "list") {
		for name, test := range matrix {
			t.Run(resource.Name+"/"+name, func(t *testing.T) {
				code, mediaType, body := s.get(t, listPath(resource), test.accept)
				if code != test.wantCode || mediaType != test.wantType {
					t.Errorf("%d %s, want %d %s: %.200s", code, mediaType, test.wantCode, test.wantType, body)
				}
			})
		}
	}
}
