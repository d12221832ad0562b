package endpoint

import (
	"context"
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

// UsageReader writes into the statuses of tokens when they were used last, to the hour. A token's status changes for it
// at most once an hour.
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
		var news []types.NamespacedName
		u.Poller.ReadUsage(ctx, func(endpoint types.NamespacedName, usage contract.Usage) {
			for name, hour := range usage.Tokens {
				if key, ok := u.note(ctx, endpoint, name, hour); ok {
					news = append(news, key)
				}
			}
		})
		for _, key := range news {
			u.Store.Tokens.WakeAt(cluster.PriorityRefresh, key)
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(usagePause):
			}
		}
	}
}

// note takes what a pod says of a token, and returns its key if that is news. A pod speaks of its own endpoint's tokens
// only, and of hours that have begun.
func (u UsageReader) note(ctx context.Context, endpoint types.NamespacedName, name string, hour time.Time) (types.NamespacedName, bool) {
	namespace, tokenName, _ := strings.Cut(name, "/")
	key := types.NamespacedName{Namespace: namespace, Name: tokenName}
	hour = hour.UTC().Truncate(time.Hour)
	token := &v1alpha1.MCPToken{}
	if hour.After(u.Now()) || u.Cached.Get(ctx, key, token) != nil || token.Endpoint() != endpoint {
		return key, false
	}
	if last, _ := u.Store.LastUsed.Get(key); !hour.After(last) || token.Status.LastUsedTime != nil && !hour.After(token.Status.LastUsedTime.Time) {
		return key, false
	}
	u.Store.LastUsed.Set(key, hour)
	return key, true
}
