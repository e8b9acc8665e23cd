/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Watch streams the changes of the object. Where it starts follows the API
// concepts of Kubernetes:
//
//   - sendInitialEvents true: the object as ADDED, then, if bookmarks are
//     allowed, the bookmark that ends the initial events. The endpoint sets the
//     option for a watch without a version too.
//   - no version and no option: the object as ADDED, without an end bookmark.
//   - sendInitialEvents false without a version: only later changes.
//   - a version: what changed since. Only the newest state is known, which is
//     all that a client of a single object needs.
//
// A version of another process is refused as expired (410), one from the
// future as too large (504 with a retry).
func (s *Singleton) Watch(ctx context.Context, options *metainternalversion.ListOptions) (watch.Interface, error) {
	if options == nil {
		options = &metainternalversion.ListOptions{}
	}
	ctx, cancel := context.WithCancel(ctx)
	// The subscription comes before the first read: a change in between is
	// signalled and read again, never lost.
	signals := s.Source.Subscribe(ctx)
	first, revision, err := s.read(ctx)
	if err == nil {
		err = s.Versions.atLeast(options.ResourceVersion, revision)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	w := &watcher{
		singleton: s,
		options:   options,
		cancel:    cancel,
		signals:   signals,
		results:   make(chan watch.Event),
		seen:      revision,
		// Without initial events the client is taken to hold the object if it
		// selects it: names and labels of a single object do not change.
		held: selects(options, first),
	}
	go w.run(ctx, w.initialEvents(first))
	return w, nil
}

// watcher is one client's stream. Only its goroutine touches seen and held.
type watcher struct {
	singleton *Singleton
	options   *metainternalversion.ListOptions
	cancel    context.CancelFunc
	signals   <-chan struct{}
	results   chan watch.Event
	// seen is the revision that the client was last told of.
	seen uint64
	// held says whether the client holds the object.
	held bool
}

// Stop ends the stream. It may be called more than once.
func (w *watcher) Stop() {
	w.cancel()
}

// ResultChan returns the events. It is closed when the stream has ended.
func (w *watcher) ResultChan() <-chan watch.Event {
	return w.results
}

// initialEvents returns what the client gets before any change.
func (w *watcher) initialEvents(first runtime.Object) []watch.Event {
	asked := w.options.SendInitialEvents
	if asked == nil && !isAny(w.options.ResourceVersion) || asked != nil && !*asked {
		return w.eventsSinceVersion(first)
	}
	var events []watch.Event
	if w.held {
		events = append(events, watch.Event{Type: watch.Added, Object: first})
	}
	if asked != nil && w.options.AllowWatchBookmarks {
		events = append(events, w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"}))
	}
	return events
}

// eventsSinceVersion returns what changed after the version that the client
// named. Without one, or with the current one, nothing did.
func (w *watcher) eventsSinceVersion(first runtime.Object) []watch.Event {
	if isAny(w.options.ResourceVersion) || !w.held || w.options.ResourceVersion == w.singleton.Versions.Format(w.seen) {
		return nil
	}
	return []watch.Event{{Type: watch.Modified, Object: first}}
}

// run sends the initial events and then one event per change until the client,
// the server or the source ends the stream.
func (w *watcher) run(ctx context.Context, initial []watch.Event) {
	defer close(w.results)
	defer w.cancel()
	for _, event := range initial {
		if !w.send(ctx, event) {
			return
		}
	}
	ticks, stop := w.bookmarkTicks()
	defer stop()
	for {
		var event *watch.Event
		select {
		case <-ctx.Done():
			return
		case _, open := <-w.signals:
			if !open {
				return
			}
			event = w.change(ctx)
		case <-ticks:
			bookmark := w.bookmark(nil)
			event = &bookmark
		}
		if event == nil {
			continue
		}
		if !w.send(ctx, *event) || event.Type == watch.Error {
			return
		}
	}
}

// change reads the object after a signal and returns the event that tells the
// client about it, or nil when nothing changed for this client.
func (w *watcher) change(ctx context.Context) *watch.Event {
	obj, revision, err := w.singleton.read(ctx)
	if err != nil {
		return errorEvent(err)
	}
	if revision == w.seen {
		return nil
	}
	held := w.held
	w.seen, w.held = revision, selects(w.options, obj)
	switch {
	case held && w.held:
		return &watch.Event{Type: watch.Modified, Object: obj}
	case w.held:
		return &watch.Event{Type: watch.Added, Object: obj}
	case held:
		return &watch.Event{Type: watch.Deleted, Object: obj}
	default:
		return nil
	}
}

// bookmark returns an event that carries nothing but the version the client has
// been told of, so that a new watch can start from it.
func (w *watcher) bookmark(annotations map[string]string) watch.Event {
	obj := w.singleton.NewFunc()
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return *errorEvent(err)
	}
	accessor.SetResourceVersion(w.singleton.Versions.Format(w.seen))
	accessor.SetAnnotations(annotations)
	return watch.Event{Type: watch.Bookmark, Object: obj}
}

// bookmarkTicks returns the ticks of the periodic bookmarks and a function that
// ends them. A client that did not ask for bookmarks has none.
func (w *watcher) bookmarkTicks() (<-chan time.Time, func()) {
	if !w.options.AllowWatchBookmarks {
		return nil, func() {}
	}
	ticker := w.singleton.Clock.NewTicker(w.singleton.BookmarkInterval)
	return ticker.C(), ticker.Stop
}

// send delivers one event and reports whether the stream goes on. While a slow
// client is waited for, changes pile up to a single one.
func (w *watcher) send(ctx context.Context, event watch.Event) bool {
	select {
	case <-ctx.Done():
		return false
	case w.results <- event:
		return true
	}
}

// errorEvent returns the event that ends a watch with a status.
func errorEvent(err error) *watch.Event {
	status := APIError(err).Status()
	return &watch.Event{Type: watch.Error, Object: &status}
}
