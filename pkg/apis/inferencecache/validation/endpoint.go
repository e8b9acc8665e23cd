/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// hostName is a DNS name as stores are reached under: with letters of both cases,
// underscores and a final point, none of which a resolver minds. The last label
// is not a number, or it would be a bad IPv4 address.
var hostName = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*[A-Za-z0-9_-]*[A-Za-z_-][A-Za-z0-9_-]*\.?$`)

// maxHostName is the longest name that DNS knows.
const maxHostName = 253

// validateEndpoint holds the endpoint of an external store to the shape that the
// provider's clients understand, and to the namespace of the backend.
func validateEndpoint(spec *inferencecache.CacheBackendSpec, namespace string, adapters Adapters, path *field.Path) field.ErrorList {
	storage := spec.RemoteStorage
	if storage == nil || storage.Ownership != inferencecache.StorageOwnershipExternal || strings.TrimSpace(storage.Endpoint) == "" {
		return nil
	}
	if store := storeOf(storage, adapters); store != nil {
		if message := endpointShape(strings.TrimSpace(storage.Endpoint), store, adapters); message != "" {
			return field.ErrorList{field.Invalid(path, storage.Endpoint, message)}
		}
	}
	other := serviceNamespace(storage.Endpoint)
	if other == "" || other == namespace || spec.AllowCrossNamespace {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf(
		"names a Service of namespace %q; set spec.allowCrossNamespace to true if that is meant", other))}
}

// endpointShape says what is wrong with an endpoint and how to mend it, or
// nothing.
func endpointShape(endpoint string, store *Store, adapters Adapters) string {
	if strings.ContainsFunc(endpoint, unicode.IsSpace) {
		return "must not contain blanks; remove them"
	}
	address := endpoint
	if scheme, rest, found := strings.Cut(endpoint, "://"); found {
		if message := schemeOf(store, adapters, strings.ToLower(scheme)); message != "" {
			return message
		}
		address = rest
	}
	if strings.ContainsAny(address, "/?#@") {
		return "must be host:port alone; remove user, path, query and fragment"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		if _, ipErr := netip.ParseAddr(address); ipErr == nil || strings.Count(address, ":") > 1 {
			return `must be host:port with an IPv6 address in brackets, such as "[2001:db8::1]:6379"`
		}
		return "must have a port; add it as host:port"
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return fmt.Sprintf("port %q must be a number from 1 to 65535", port)
	}
	return hostShape(host, strings.HasPrefix(address, "["))
}

// schemeOf says why a scheme does not go with a store, or nothing.
func schemeOf(store *Store, adapters Adapters, scheme string) string {
	if slices.Contains(store.Schemes, scheme) {
		return ""
	}
	shapes := []string{"host:port"}
	for _, own := range store.Schemes {
		shapes = append(shapes, own+"://host:port")
	}
	remedy := "use " + strings.Join(shapes, " or ")
	for _, other := range adapters.Stores() {
		if slices.Contains(other.Schemes, scheme) {
			return fmt.Sprintf("scheme %q belongs to provider %s, not to %s; %s", scheme, other.Provider, store.Provider, remedy)
		}
	}
	return fmt.Sprintf("scheme %q is unknown to provider %s; %s", scheme, store.Provider, remedy)
}

func hostShape(host string, bracketed bool) string {
	address, err := netip.ParseAddr(host)
	switch {
	case bracketed && (err != nil || !address.Is6()):
		return fmt.Sprintf("host %q is in brackets but is no IPv6 address; remove the brackets", host)
	case bracketed && address.Zone() != "":
		return fmt.Sprintf("host %q has a zone, which means something on one node only; use an address without one", host)
	case err == nil:
		return ""
	case host == "":
		return "must have a host; add it as host:port"
	case len(host) > maxHostName || !hostName.MatchString(host):
		return fmt.Sprintf("host %q is neither a DNS name nor an IP address; correct it", host)
	default:
		return ""
	}
}

// serviceNamespace returns the namespace of the Service that an endpoint names,
// or nothing when it names none for certain: a bare name, an address and a name
// under another cluster domain all pass.
func serviceNamespace(endpoint string) string {
	host := strings.ToLower(strings.TrimSpace(endpoint))
	if _, rest, found := strings.Cut(host, "://"); found {
		host = rest
	}
	if end := strings.IndexAny(host, "/?"); end >= 0 {
		host = host[:end]
	}
	if port := strings.LastIndexByte(host, ':'); port >= 0 {
		host = host[:port]
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, "."), ".cluster.local")
	service, isService := strings.CutSuffix(host, ".svc")
	labels := strings.Split(service, ".")
	if !isService || len(labels) < 2 {
		return ""
	}
	return labels[len(labels)-1]
}
