/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tokenizer

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Parts of the values that endpoints are written as.
const (
	// defaultPath is asked when a URL names no path; engines serve it.
	defaultPath = "/tokenize"
	// chatFragment ends the URL of an endpoint that wraps the text as a message.
	// A fragment is never sent, so that it cannot mean anything else.
	chatFragment = "chat"
)

// Endpoint is the tokenizer of one model.
type Endpoint struct {
	// Model is the name by which lookups ask for the model, which is also the one
	// that the tokenizer is told.
	Model string
	// URL is where questions are posted. Its scheme is http or https; it holds no
	// credentials and no fragment.
	URL string
	// Chat makes the text the message of a user instead of the prompt itself.
	Chat bool
}

// ParseEndpoint reads an endpoint that is written as model=url. Without a path the
// URL means /tokenize on that host; a URL that ends in #chat sets Chat. The error
// says what is wrong with the value.
func ParseEndpoint(value string) (Endpoint, error) {
	model, rest, found := strings.Cut(value, "=")
	if !found {
		return Endpoint{}, fmt.Errorf("%q is not of the form model=url", value)
	}
	if model == "" {
		return Endpoint{}, fmt.Errorf("%q names no model in front of its =", value)
	}
	target, err := url.Parse(rest)
	if err != nil {
		// The parser's own error repeats the URL, and may so show a password.
		return Endpoint{}, fmt.Errorf("tokenizer of model %q: %w", model, withoutURL(err))
	}
	endpoint := Endpoint{Model: model}
	switch target.Fragment {
	case "":
	case chatFragment:
		endpoint.Chat = true
	default:
		return Endpoint{}, fmt.Errorf("tokenizer of model %q: the URL may end in #%s, not in #%s", model, chatFragment, target.Fragment)
	}
	target.Fragment, target.RawFragment = "", ""
	if target.Path == "" || target.Path == "/" {
		target.Path = defaultPath
	}
	endpoint.URL = target.String()
	return endpoint, endpoint.validate()
}

// ParseEndpoints reads one endpoint per value, and joins what is wrong with any of
// them; a model that is named twice is wrong.
func ParseEndpoints(values []string) ([]Endpoint, error) {
	var endpoints []Endpoint
	var problems []error
	for _, value := range values {
		endpoint, err := ParseEndpoint(value)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		endpoints = append(endpoints, endpoint)
	}
	if _, err := byModel(endpoints); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return endpoints, nil
}

// validate says what keeps an endpoint from being asked.
func (e Endpoint) validate() error {
	if e.Model == "" {
		return errors.New("an endpoint names no model")
	}
	target, err := url.Parse(e.URL)
	switch {
	case err != nil:
		err = withoutURL(err)
	case target.Scheme != "http" && target.Scheme != "https":
		err = fmt.Errorf("the URL has to start with http:// or https://, not with %q", target.Scheme)
	case target.Hostname() == "":
		err = errors.New("the URL names no host")
	case target.User != nil:
		err = errors.New("the URL must not hold credentials, which everyone who sees the flag would have")
	case target.Fragment != "":
		err = errors.New("the URL has a fragment, which is never sent")
	}
	if err != nil {
		return fmt.Errorf("tokenizer of model %q: %w", e.Model, err)
	}
	return nil
}

// byModel indexes endpoints and refuses those that cannot be asked.
func byModel(endpoints []Endpoint) (map[string]Endpoint, error) {
	known := make(map[string]Endpoint, len(endpoints))
	for _, endpoint := range endpoints {
		if err := endpoint.validate(); err != nil {
			return nil, err
		}
		if _, twice := known[endpoint.Model]; twice {
			return nil, fmt.Errorf("model %q has two tokenizers", endpoint.Model)
		}
		known[endpoint.Model] = endpoint
	}
	return known, nil
}

// withoutURL returns what went wrong without the URL that it went wrong with.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}
