/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// imageReference is the grammar of an image: an optional registry with a port,
// the path of a repository in lower case, an optional tag, an optional digest.
var imageReference = regexp.MustCompile(`^` +
	`(([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?/)?` +
	`[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*` +
	`(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,})?` +
	`$`)

// maxRepository bounds the name of an image without tag and digest, as container
// runtimes do.
const maxRepository = 255

// validateImage refuses an image that no node can pull because it is no image at
// all. Absent stands for the default.
func validateImage(image string, path *field.Path) field.ErrorList {
	if image == "" {
		return nil
	}
	repository, _, _ := strings.Cut(image, "@")
	if tag := strings.LastIndexByte(repository, ':'); tag > strings.LastIndexByte(repository, '/') {
		repository = repository[:tag]
	}
	switch {
	case !imageReference.MatchString(image):
		return field.ErrorList{field.Invalid(path, image, `must be an image such as "registry.example/store:1.2" or one with a digest; correct it`)}
	case len(repository) > maxRepository:
		return field.ErrorList{field.TooLong(path, image, maxRepository)}
	default:
		return nil
	}
}
