/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule says which value is unique among the objects of a kind. All fields are
// required.
type Rule struct {
	// Kind is the kind, for errors.
	Kind schema.GroupKind
	// Name tells the rules of a resource apart. It is part of etcd keys and must
	// never change.
	Name string
	// Value returns what an object claims. An object that claims nothing returns
	// the empty string, and so must an empty object.
	Value func(obj runtime.Object) string
	// Duplicate returns the error for an object that claims the value of owner.
	// Who may see the error may not be allowed to see owner.
	Duplicate func(value string, object, owner types.NamespacedName) *field.Error
}

// refuse returns the answer to a write of object, whose value owner claims.
func (r *Rule) refuse(value string, object, owner types.NamespacedName) error {
	return apierrors.NewInvalid(r.Kind, object.Name, field.ErrorList{r.Duplicate(value, object, owner)})
}
