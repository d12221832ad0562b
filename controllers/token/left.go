package token

import (
	"context"
	"sync"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// LeftSecrets are the Secrets of MCPTokens that this process saw deleted, until the garbage collector took them. Their texts
// are revoked, and must not come back with an MCPToken of the same name. A Secret that a backup brings back is another
// one, which may name the same owner. It is safe for concurrent use.
type LeftSecrets struct {
	// Cached reads metadata of Secrets.
	Cached client.Reader

	mu sync.Mutex
	// of are the Secrets, by the UIDs of the deleted MCPTokens.
	of map[types.UID]leftSecret
	// pruneAt is how many there are when deleted ones are dropped.
	pruneAt int
}

type leftSecret struct {
	name types.NamespacedName
	uid  types.UID
}

// deletions is a predicate that passes every event, and notes the Secrets of the tokens that are deleted. It must stand
// in every watch that may have a token reconciled because one is new.
func (l *LeftSecrets) deletions() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld.GetUID() != e.ObjectNew.GetUID() { // deleted and made again while nothing could be watched
				l.note(e.ObjectOld)
			}
			return true
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			l.note(e.Object)
			return true
		},
	}
}

func (l *LeftSecrets) note(o client.Object) {
	t, isToken := o.(*v1alpha1.MCPToken)
	if !isToken || !t.Spec.Generated() {
		return
	}
	name := types.NamespacedName{Namespace: t.Namespace, Name: t.EffectiveSecretName()}
	uid := l.uidOf(name)
	if uid == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[types.UID]leftSecret{}
	}
	l.of[t.UID] = leftSecret{name, uid}
	if len(l.of) > l.pruneAt {
		for token, left := range l.of {
			if l.uidOf(left.name) != left.uid {
				delete(l.of, token)
			}
		}
		l.pruneAt = 2*len(l.of) + 16
	}
}

// uidOf is the UID of a Secret as the cache has it; "" if there is none.
func (l *LeftSecrets) uidOf(name types.NamespacedName) types.UID {
	seen := cluster.MetadataOf("Secret")
	if l.Cached.Get(context.Background(), name, seen) != nil {
		return ""
	}
	return seen.UID
}

// has reports whether a Secret was left by its owner.
func (l *LeftSecrets) has(secret client.Object) bool {
	owner := metav1.GetControllerOfNoCopy(secret)
	if owner == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	left, known := l.of[owner.UID]
	return known && left.uid == secret.GetUID()
}
