package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
)

// conflictRetry is how long to wait before writing again after somebody else wrote.
const conflictRetry = 50 * time.Millisecond

// ForeignRetry is how long to wait before looking again at an object of another, if it cannot be watched. Tests set it so long
// that they see what comes by a watch alone.
var ForeignRetry = 30 * time.Second

// Soonest returns the shorter of two times to wait; 0 is forever.
func Soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Result makes the result of every reconcile. Only it decides when an error is tried again. A conflict means that the
// object has changed: it is read again at once. Other errors are tried again after a pause that grows. An error because the
// namespace is being deleted is ignored. Without an error the object is looked at again after lookAgain; 0 is never.
func Result(lookAgain time.Duration, err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetry}, nil
	}
	if err == nil || EndsWithNamespace(err) {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	return ctrl.Result{}, err
}

// EndsWithNamespace reports whether something could not be made because its namespace is being deleted, which is no failure.
func EndsWithNamespace(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}
