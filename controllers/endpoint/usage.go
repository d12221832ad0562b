package endpoint

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/cluster"
	"github.com/mcp-admin/mcp-admin-operator/controllers/observe"
	"github.com/mcp-admin/mcp-admin-operator/controllers/program"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// UsageInterval is how often the pods are asked which tokens were used.
	UsageInterval = 5 * time.Minute
	// usagePause is the pause between two tokens whose status is to say that they were used. Nobody waits for it, so it must
	// not come in the way of anything else.
	usagePause = 100 * time.Millisecond
)

// UsageReader writes into the statuses of tokens when they were used last, and when they were refused last though they have expired or
// are not active, both to the hour. A token's status changes for each at most once an hour.
type UsageReader struct {
	Cached   client.Reader
	Poller   *observe.Poller
	Store    *program.Store
	Interval time.Duration
	Now      func() time.Time
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (UsageReader) NeedLeaderElection() bool { return true }

// Start asks until the context ends.
func (u UsageReader) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(u.Interval):
		}
		for _, key := range u.news(ctx) {
			u.Store.Tokens.WakeAt(cluster.PriorityRefresh, key)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(usagePause):
			}
		}
	}
}

// news asks the pods once, and returns the tokens whose status is to change.
func (u UsageReader) news(ctx context.Context) (news []types.NamespacedName) {
	refused := map[types.NamespacedName]contract.RefusedUse{}
	u.Poller.ReadUsage(ctx, func(endpoint types.NamespacedName, usage contract.Usage) {
		for name, hour := range usage.Tokens {
			if key, ok := u.note(ctx, endpoint, name, hour); ok {
				news = append(news, key)
			}
		}
		for name, use := range usage.Refused {
			key := keyOfName(name)
			if token := u.tokenOf(ctx, endpoint, key); token != nil && u.believes(token, use) {
				refused[key] = together(refused[key], use)
			}
		}
	})
	for key, use := range refused {
		if u.noteRefused(ctx, key, use) {
			news = append(news, key)
		}
	}
	return news
}

// together is what two pods tell of the refusals of a token.
func together(a, b contract.RefusedUse) contract.RefusedUse {
	if b.Last.Before(a.Last) {
		a, b = b, a
	}
	b.Count += a.Count
	return b
}

func keyOfName(name string) types.NamespacedName {
	namespace, tokenName, _ := strings.Cut(name, "/")
	return types.NamespacedName{Namespace: namespace, Name: tokenName}
}

// tokenOf returns a token of an endpoint; nil if it has none of that name. A pod speaks of its own endpoint's tokens only.
func (u UsageReader) tokenOf(ctx context.Context, endpoint, key types.NamespacedName) *v1alpha1.MCPToken {
	token := &v1alpha1.MCPToken{}
	if u.Cached.Get(ctx, key, token) != nil || token.Endpoint() != endpoint {
		return nil
	}
	return token
}

// note takes what a pod says of a token, and returns its key if that is news. A pod speaks of hours that have begun.
func (u UsageReader) note(ctx context.Context, endpoint types.NamespacedName, name string, hour time.Time) (types.NamespacedName, bool) {
	key := keyOfName(name)
	hour = hour.UTC().Truncate(time.Hour)
	token := u.tokenOf(ctx, endpoint, key)
	if hour.After(u.Now()) || token == nil {
		return key, false
	}
	if last, _ := u.Store.LastUsed.Get(key); !hour.After(last) || token.Status.LastUsedTime != nil && !hour.After(token.Status.LastUsedTime.Time) {
		return key, false
	}
	u.Store.LastUsed.Set(key, hour)
	return key, true
}

// believes reports whether a pod tells of a refusal that can have been: of an hour that has begun, and for what the token's spec says. A pod
// may be behind what the spec says by now.
func (u UsageReader) believes(t *v1alpha1.MCPToken, use contract.RefusedUse) bool {
	if use.Count < 1 || use.Last.Truncate(time.Hour).After(u.Now()) {
		return false
	}
	switch use.Reason {
	case v1alpha1.ReasonInactive:
		return !t.Spec.EffectiveActive()
	case v1alpha1.ReasonExpired:
		return t.Spec.EffectiveActive() && t.Expired(use.Last)
	}
	return false
}

// noteRefused takes what the pods say of a token that they refuse, and reports whether that is news: the first refusal in its hour.
func (u UsageReader) noteRefused(ctx context.Context, key types.NamespacedName, use contract.RefusedUse) bool {
	token := &v1alpha1.MCPToken{}
	if u.Cached.Get(ctx, key, token) != nil {
		return false
	}
	hour := use.Last.UTC().Truncate(time.Hour)
	if told := token.Status.LastRefusedTime; told != nil && !hour.After(told.Time) {
		return false
	}
	if told, _ := u.Store.Refused.Get(key); !hour.After(told.Last) {
		return false
	}
	if use.From != "" && net.ParseIP(use.From) == nil {
		use.From = "" // a pod's answer is a stranger's
	}
	use.Last = hour
	u.Store.Refused.Set(key, use)
	return true
}
