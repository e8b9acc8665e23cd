/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing_test

import (
	"context"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/pkg/client/routing"
)

// ExampleClient_Lookup asks an index that is not there, which a request does not
// notice: it goes where it would have gone anyway.
func ExampleClient_Lookup() {
	client, err := routing.New(routing.Options{
		Servers: []string{"127.0.0.1:1"}, // in a cluster the headless Service of the API server
		Timeout: time.Second,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	answer := client.Lookup(context.Background(), routing.Query{
		Tenant: "my-namespace", Model: "my-model", TokenIDs: []uint32{1, 2, 3}, TopK: 3,
	})
	if engine, ok := answer.Best(); ok {
		fmt.Printf("%s reuses %d tokens\n", engine.Pod, engine.MatchedTokens)
	} else {
		fmt.Println("routed as usual:", answer.Reason)
	}
	// Output: routed as usual: NO_HINT
}
