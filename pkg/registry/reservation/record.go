/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reservation

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// record is the content of a holding: the object that claims the value. The UID
// is for whoever reads etcd; what decides is whether an object of that name
// claims the value.
type record struct {
	Resource  string    `json:"resource"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
}

// recordOf returns the record that names obj.
func recordOf(resource schema.GroupResource, obj runtime.Object) (record, error) {
	m, err := meta.Accessor(obj)
	if err != nil {
		return record{}, err
	}
	return record{Resource: resource.String(), Namespace: m.GetNamespace(), Name: m.GetName(), UID: m.GetUID()}, nil
}

// object returns the name of the object.
func (r record) object() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

func (r record) encode() (string, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("encode reservation: %w", err)
	}
	return string(b), nil
}

func decodeRecord(b []byte) (record, error) {
	var r record
	if err := json.Unmarshal(b, &r); err != nil {
		return record{}, fmt.Errorf("decode reservation: %w", err)
	}
	// The names become part of a key.
	for _, name := range []string{r.Namespace, r.Name} {
		if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return record{}, errors.New("decode reservation: it names no object")
		}
	}
	return r, nil
}

// keys are the etcd keys of one rule: beside the objects, under the same root.
type keys struct {
	holdings, guards string
}

func newKeys(root string, resource schema.GroupResource, rule string) keys {
	dir := path.Join("/", root, "reservations", resource.String(), rule)
	return keys{holdings: dir + "/holdings/", guards: dir + "/guards/"}
}

// holding is the key that names the object which claims value.
func (k keys) holding(value string) string {
	return k.holdings + url.PathEscape(value)
}

// guard is the key that exists while that object is being written.
func (k keys) guard(value string) string {
	return k.guards + url.PathEscape(value)
}

// value is the inverse of holding.
func (k keys) value(holding string) (string, error) {
	name, ok := strings.CutPrefix(holding, k.holdings)
	if !ok {
		return "", fmt.Errorf("%q is no reservation", holding)
	}
	value, err := url.PathUnescape(name)
	if err != nil {
		return "", fmt.Errorf("decode reservation: %w", err)
	}
	return value, nil
}
