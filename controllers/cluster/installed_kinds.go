package cluster

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// InstalledKinds tells which kinds are installed. A kind that is not is asked for again after a while, once for all
// endpoints.
type InstalledKinds struct {
	Mapper    meta.RESTMapper
	Now       func() time.Time
	LookAgain time.Duration
	// missing is when a kind was found missing last.
	missing Memo[schema.GroupVersionKind, time.Time]
}

// Has reports whether the API server has the kind.
func (k *InstalledKinds) Has(kind schema.GroupVersionKind) (bool, error) {
	if since, missing := k.missing.Get(kind); missing && k.Now().Sub(since) < k.LookAgain {
		return false, nil
	}
	_, err := k.Mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		k.Lose(kind)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	k.missing.Forget(kind)
	return true, nil
}

// Lose notes that a kind is not installed any more.
func (k *InstalledKinds) Lose(kind schema.GroupVersionKind) { k.missing.Set(kind, k.Now()) }

// IsKindGone reports whether a request failed because its kind is not installed any more. The mapper does not notice.
func IsKindGone(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
