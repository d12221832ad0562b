package observe

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const (
	// approvalsTimeout is how long a pod may take for one page, approvalPages how many are read in a row.
	approvalsTimeout = 5 * time.Second
	approvalPages    = 50
	// approvalsPause is the longest pause before they are read again after they could not be.
	approvalsPause = time.Second
)

// approvalsRead is what was read of a pod's approvals.
type approvalsRead struct {
	mu sync.Mutex
	// cursor is that of the last page, seen the ApprovalsSerial that it reaches.
	cursor, seen string
}

func (a *approvalsRead) cursorNow() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cursor
}

// due reports whether a report tells of approvals that were not read.
func (a *approvalsRead) due(report *contract.Status) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return report != nil && report.ApprovalsSerial != "" && report.ApprovalsSerial != a.seen
}

// ReadApprovalsAgain has all that the endpoint's pods know of approvals be told once more, within some seconds.
func (p *Poller) ReadApprovalsAgain(endpoint types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.endpoints[endpoint] {
		w.approvals.mu.Lock()
		w.approvals.cursor, w.approvals.seen = "", ""
		w.approvals.mu.Unlock()
	}
}

// readApprovals reads what is new of the pod's approvals, if its last report says that something is.
func (w *worker) readApprovals(ctx context.Context) error {
	take := w.poller.options.OnApprovals
	report := w.latest()
	if take == nil || !w.approvals.due(report) {
		return nil
	}
	for range approvalPages {
		after := w.approvals.cursorNow()
		page, err := w.askApprovals(ctx, after)
		if err != nil {
			return err
		}
		if len(page.Approvals) > 0 && !take(w.endpoint, page.Approvals) {
			return errors.New("too many calls wait already")
		}
		w.approvals.mu.Lock()
		if w.approvals.cursor == after { // else they are to be read again
			w.approvals.cursor = page.Cursor
			if !page.More {
				w.approvals.seen = report.ApprovalsSerial
			}
		}
		w.approvals.mu.Unlock()
		if !page.More {
			return nil
		}
	}
	return nil
}

// askApprovals asks the pod for one page. The answer is a stranger's, as a Status is.
func (w *worker) askApprovals(ctx context.Context, after string) (contract.ApprovalPage, error) {
	var page contract.ApprovalPage
	ctx, cancel := context.WithTimeout(ctx, approvalsTimeout)
	defer cancel()
	body, err := w.connection.get(ctx, "/approvals?"+url.Values{"after": {after}}.Encode(), w.target.key, contract.MaxApprovalsBytes)
	if err != nil {
		return page, err
	}
	if json.Unmarshal(body, &page) != nil || len(page.Approvals) > contract.MaxApprovalsPage || page.Cursor == "" || page.More && page.Cursor == after {
		return contract.ApprovalPage{}, errors.New("the pod's answer is no page of approvals, or too long")
	}
	return page, nil
}
