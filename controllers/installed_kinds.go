package controllers

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// installedKinds tells which kinds are installed. A kind that is not is asked for again after a while, once for all
// endpoints.
type installedKinds struct {
	mapper    meta.RESTMapper
	now       func() time.Time
	lookAgain time.Duration
	// missing is when a kind was found missing last.
	missing memo[schema.GroupVersionKind, time.Time]
}

func (k *installedKinds) has(kind schema.GroupVersionKind) (bool, error) {
	if since, missing := k.missing.get(kind); missing && k.now().Sub(since) < k.lookAgain {
		return false, nil
	}
	_, err := k.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		k.lose(kind)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k.missing.forget(kind)
	return true, nil
}

// lose notes that a kind is not installed any more.
func (k *installedKinds) lose(kind schema.GroupVersionKind) { k.missing.set(kind, k.now()) }

// isKindGone reports whether a request failed because its kind is not installed any more. The mapper does not notice.
func isKindGone(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
