package observe

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const (
	// usageTimeout is how long a pod may take to tell which tokens were used; usageWorkers how many are asked at once.
	usageTimeout = 3 * time.Second
	usageWorkers = 4
)

// ReadUsage asks every pod that is observed which tokens were used since it was asked last, and calls used for each answer
// that names some, or tokens that were refused, one at a time. A pod that does not answer is passed over.
func (p *Poller) ReadUsage(ctx context.Context, used func(endpoint types.NamespacedName, usage contract.Usage)) {
	var workers []*worker
	p.mu.Lock()
	for _, ofEndpoint := range p.endpoints {
		for _, w := range ofEndpoint {
			workers = append(workers, w)
		}
	}
	p.mu.Unlock()
	var telling sync.Mutex
	var asking sync.WaitGroup
	places := make(chan struct{}, usageWorkers)
	for _, w := range workers {
		places <- struct{}{}
		asking.Go(func() {
			defer func() { <-places }()
			usage, err := w.askUsage(ctx)
			if err != nil {
				w.poller.options.Log.V(1).Info("A pod did not tell which tokens were used", "pod", w.pod, "reason", err.Error())
				return
			}
			telling.Lock()
			defer telling.Unlock()
			if len(usage.Tokens) > 0 || len(usage.Refused) > 0 {
				used(w.endpoint, usage)
			}
		})
	}
	asking.Wait()
}

// askUsage asks one pod for what was used after its last answer.
func (w *worker) askUsage(ctx context.Context) (contract.Usage, error) {
	var usage contract.Usage
	beside := connection{address: w.target.address} // the worker's own waits for news
	defer beside.close()
	ctx, cancel := context.WithTimeout(ctx, usageTimeout)
	defer cancel()
	body, err := beside.get(ctx, "/usage?after="+strconv.FormatInt(w.usageCursor.Load(), 10), w.target.key, contract.MaxUsageBytes)
	if err != nil {
		return usage, err
	}
	if json.Unmarshal(body, &usage) != nil || len(usage.Tokens) > contract.MaxUsedTokens ||
		len(usage.Refused) > contract.MaxRefusedUses {
		return contract.Usage{}, errors.New("the pod's answer is no usage, or too long")
	}
	w.usageCursor.Store(usage.Cursor)
	return usage, nil
}
