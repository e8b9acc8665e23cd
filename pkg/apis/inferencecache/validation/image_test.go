/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestImage(t *testing.T) {
	const detail = `: must be an image such as "registry.example/store:1.2" or one with a digest; correct it`
	digest := "@sha256:" + strings.Repeat("0a", 32)
	accepted := []string{
		"", "a", "redis", "redis:7.4-alpine", "library/redis", "docker.io/library/redis:7", "localhost:5000/a/b/c:d",
		"Registry.Example:443/a", "10.0.0.1:5000/a", "[2001:db8::1]:5000/a", "a__b/c.d/e--f:_G.h-1", "a" + digest, "a:b" + digest,
		strings.Repeat("a", 255), "a:" + strings.Repeat("b", 128),
	}
	for _, image := range accepted {
		t.Run(image, func(t *testing.T) { compare(t, nil, validateImage(image, field.NewPath("image"))) })
	}
	refused := []string{
		" ", "a ", " a", "a b", "A", "a:", ":a", "a@", "a@sha256:00", "a::b", "a/", "/a", "a//b", "-a", "a-", "a..b", "a___b",
		"https://a/b", "a:b:c", "a\nb", "a:" + strings.Repeat("b", 129), "[::1]/a b",
	}
	for _, image := range refused {
		t.Run(image, func(t *testing.T) {
			errs := validateImage(image, field.NewPath("image"))
			if len(errs) != 1 || !strings.HasSuffix(errs[0].Error(), detail) {
				t.Errorf("got %v", errs)
			}
		})
	}
	t.Run("too long", func(t *testing.T) {
		compare(t, []string{"image: Too long: may not be more than 255 bytes"}, validateImage(strings.Repeat("a", 256)+":b", field.NewPath("image")))
	})
}
