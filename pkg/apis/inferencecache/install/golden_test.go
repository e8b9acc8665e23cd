/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestStoredBytes holds the form in which objects lie in etcd. A change of it
// strands what clusters have stored; it needs a new version, not a new golden
// file.
func TestStoredBytes(t *testing.T) {
	scheme, codecs := newScheme()
	codec := codecs.LegacyCodec(v1alpha1.SchemeGroupVersion)
	for _, kind := range []string{"CacheBackend", "CachePolicy", "CacheTenant"} {
		t.Run(kind, func(t *testing.T) {
			base := filepath.Join("testdata", strings.ToLower(kind))
			input, err := os.ReadFile(base + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			served, err := scheme.New(v1alpha1.SchemeGroupVersion.WithKind(kind))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := codecs.UniversalDeserializer().Decode(input, nil, served); err != nil {
				t.Fatalf("decode %s.yaml: %v", base, err)
			}
			if missing := unset(reflect.ValueOf(served).Elem(), kind); len(missing) > 0 {
				t.Errorf("%s.yaml leaves fields unset, so their stored form is not held: %s", base, strings.Join(missing, ", "))
			}
			hub, err := runtime.Decode(codec, input)
			if err != nil {
				t.Fatalf("decode %s.yaml to the hub: %v", base, err)
			}
			stored, err := runtime.Encode(codec, hub)
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			compareGolden(t, base+".stored.json", stored)
		})
	}
}

// compareGolden compares line by line: one indented line for each stored value.
func compareGolden(t *testing.T, file string, stored []byte) {
	t.Helper()
	var got bytes.Buffer
	if err := json.Indent(&got, stored, "", "  "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("stored bytes (-want +got):\n%s", diff)
	}
}

// unset names the fields of the group's own types that hold their zero value.
func unset(value reflect.Value, path string) []string {
	switch value.Kind() {
	case reflect.Pointer:
		switch {
		case value.IsNil():
			return []string{path}
		case value.Elem().Kind() == reflect.Struct:
			return unset(value.Elem(), path)
		default:
			// A pointer that is set may well point at a zero.
			return nil
		}
	case reflect.Struct:
		if !strings.HasSuffix(value.Type().PkgPath(), "inferencecache/v1alpha1") {
			return nil
		}
		var missing []string
		for i := range value.NumField() {
			missing = append(missing, unset(value.Field(i), path+"."+value.Type().Field(i).Name)...)
		}
		return missing
	default:
		if value.IsZero() {
			return []string{path}
		}
		return nil
	}
}
