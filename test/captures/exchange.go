/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package captures

import (
	"encoding/json"
	"fmt"
	"os"
)

// Exchange is one question to a store and its answer.
type Exchange struct {
	// Name tells the exchange from the others of its file.
	Name string
	// Method and Path are set for a question asked over HTTP, and Status is that of
	// the answer: 0 when there was none.
	Method, Path string
	Status       int
	// Request and Response are what was sent and what came back: bytes of the
	// connection, or the bodies over HTTP. Of a request above 4 KB only the head was
	// kept.
	Request, Response []byte
	// Closed says that the store closed the connection after the answer.
	Closed bool
}

// LoadExchanges reads a recording of a store, such as
// "redis/redis-7.0.15-auth.json", taken from [Root]. What is neither a question nor
// an answer, such as the start of a process, is an exchange with a name alone.
func LoadExchanges(file string) ([]Exchange, error) {
	path, err := resolve(file)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []struct {
		Name           string `json:"name"`
		Method         string `json:"method"`
		Path           string `json:"path"`
		Status         int    `json:"status"`
		Request        string `json:"request"`
		RequestBase64  []byte `json:"request_base64"`
		Response       string `json:"response"`
		ResponseBase64 []byte `json:"response_base64"`
		RequestBody    string `json:"request_body"`
		ResponseBody   string `json:"response_body"`
		Closed         bool   `json:"connection_closed_by_server"`
	}
	if err := json.Unmarshal(raw, &lines); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var exchanges []Exchange
	for _, line := range lines {
		exchanges = append(exchanges, Exchange{
			Name: line.Name, Method: line.Method, Path: line.Path, Status: line.Status, Closed: line.Closed,
			Request:  append(append([]byte(line.Request), line.RequestBase64...), line.RequestBody...),
			Response: append(append([]byte(line.Response), line.ResponseBase64...), line.ResponseBody...),
		})
	}
	return exchanges, nil
}
