package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The annotations that the controllers read on each of the three kinds.
const (
	// PausedAnnotation stops the controllers from making anything new of an object while it is "true". What takes access
	// away is never held up.
	PausedAnnotation = "mcpadmin.dev/paused"
	// ReconcileRequestAnnotation asks for a fresh look at an object, past every cache, each time its value changes. The
	// value is usually the time of the request. status.lastHandledReconcileAt says which one was acted upon.
	ReconcileRequestAnnotation = "reconcile.mcpadmin.dev/requestedAt"
)

// maxReconcileRequest bounds the value of ReconcileRequestAnnotation that a status repeats, in bytes.
const maxReconcileRequest = 100

// IsPaused reports whether an object is paused.
func IsPaused(obj metav1.Object) bool { return obj.GetAnnotations()[PausedAnnotation] == "true" }

// ReconcileRequest is an object's request for a fresh look, as its status repeats it; "" is none.
func ReconcileRequest(obj metav1.Object) string {
	request := obj.GetAnnotations()[ReconcileRequestAnnotation]
	return request[:min(len(request), maxReconcileRequest)]
}
