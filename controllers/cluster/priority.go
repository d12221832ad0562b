package cluster

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The order in which a queue gives out what waits in it: what takes access away goes before everything else.
const (
	PriorityRemoval = 100
	// PriorityIssue is for a new token of an endpoint that has pods: its holder can use it as soon as they know it, so it does
	// not wait for a thousand endpoints that are being created.
	PriorityIssue = 50
	// PriorityFinish is for a token that has reached the pods: only its status is missing.
	PriorityFinish = 10
	PriorityChange = 0
	// priorityFound is for what was there when the manager started, as in controller-runtime.
	priorityFound = handler.LowPriority
	// PriorityRefresh is for what nobody waits for.
	PriorityRefresh = -1000
)

func priorityOfNew(initial bool) int {
	if initial {
		return priorityFound
	}
	return PriorityChange
}

// EnqueueAt adds objects to a queue with a priority.
func EnqueueAt(queue workqueue.TypedRateLimitingInterface[reconcile.Request], priority int, keys ...types.NamespacedName) {
	for _, key := range keys {
		request := reconcile.Request{NamespacedName: key}
		if ordered, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
			ordered.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request)
		} else {
			queue.Add(request)
		}
	}
}
