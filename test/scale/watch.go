package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// seenObject is the part of an object of our kinds that the laboratory reads: whether it is Ready in its present
// generation.
type seenObject struct {
	Metadata struct {
		Namespace, Name, ResourceVersion string
		Generation                       int64
	}
	Status struct {
		ObservedGeneration int64
		Conditions         []struct{ Type, Status string }
	}
}

func (o *seenObject) ready() bool {
	return o.Status.ObservedGeneration == o.Metadata.Generation && slices.ContainsFunc(o.Status.Conditions, func(c struct{ Type, Status string }) bool {
		return c.Type == "Ready" && c.Status == "True"
	})
}

// object names an object of our kinds, by its resource.
type object struct{ resource, namespace, name string }

// objectState is the known state of an object that exists.
type objectState struct {
	generation int64
	ready      bool
}

// watchedObjects are the objects of our kinds as the API server reports them. It is safe for concurrent use.
type watchedObjects struct {
	mu      sync.Mutex
	state   map[object]objectState
	ready   int
	changed time.Time // when one became Ready last
	waiters map[object][]waiter
}

type waiter struct {
	until func(state objectState, exists bool) bool
	done  chan time.Time
}

// watchObjects watches the three kinds from now on, when none exists.
func watchObjects(ctx context.Context, config *rest.Config) (*watchedObjects, error) {
	w := &watchedObjects{state: map[object]objectState{}, waiters: map[object][]waiter{}}
	transport, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	for _, resource := range []string{"mcpendpoints", "mcpmodelexposures", "mcptokens"} {
		go w.follow(ctx, transport, server.JoinPath("apis", "mcpadmin.dev", "v1alpha1", resource).String(), resource)
	}
	return w, nil
}

func (w *watchedObjects) follow(ctx context.Context, c *http.Client, url, resource string) {
	version := "0" // whatever the API server has
	for ; ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"?watch=1&timeoutSeconds=3600&resourceVersion="+version, nil)
		if err != nil {
			return // never: the address is valid
		}
		response, err := c.Do(request)
		if err != nil {
			continue
		}
		stream := json.NewDecoder(response.Body)
		for {
			var event struct {
				Type   string
				Object seenObject
			}
			if stream.Decode(&event) != nil {
				break
			}
			if event.Type == "ERROR" { // the version is too old: everything is listed again
				version = "0"
				break
			}
			version = event.Object.Metadata.ResourceVersion
			w.note(object{resource, event.Object.Metadata.Namespace, event.Object.Metadata.Name}, &event.Object, event.Type == "DELETED")
		}
		_ = response.Body.Close()
	}
}

func (w *watchedObjects) note(key object, o *seenObject, deleted bool) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.state[key]
	after := objectState{o.Metadata.Generation, !deleted && o.ready()}
	if w.state[key] = after; deleted {
		delete(w.state, key)
	}
	if after.ready != before.ready && !strings.HasPrefix(key.name, probePrefix) {
		if after.ready {
			w.ready, w.changed = w.ready+1, now
		} else {
			w.ready--
		}
	}
	w.waiters[key] = slices.DeleteFunc(w.waiters[key], func(waiting waiter) bool {
		if !waiting.until(after, !deleted) {
			return false
		}
		waiting.done <- now
		return true
	})
	if len(w.waiters[key]) == 0 {
		delete(w.waiters, key)
	}
}

// readyCount is the number of objects that are Ready, without the probes, and when the last one became so.
func (w *watchedObjects) readyCount() (int, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ready, w.changed
}

// await tells when an object comes into a state. It must be called before the change that leads there.
func (w *watchedObjects) await(key object, until func(objectState, bool) bool) <-chan time.Time {
	waiting := waiter{until, make(chan time.Time, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiters[key] = append(w.waiters[key], waiting)
	return waiting.done
}
