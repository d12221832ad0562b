package server

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// auditSettings is how the endpoint wants audit lines.
func auditSettings(e *contract.Endpoint) audit.Settings {
	files := e.AuditLines.Files
	return audit.Settings{
		OCSF: e.AuditLines.OCSF, Required: e.AuditLines.Required, Endpoint: e.Namespace + "/" + e.Name,
		Files: audit.FolderLimits{MaxFileBytes: files.MaxFileBytes, MaxTotalBytes: files.MaxTotalBytes, MaxAge: time.Duration(files.MaxAge)},
	}
}

// configureSender has audit lines sent to the collector that an update names, too. OpenTelemetry's environment alone names none: who set
// it for traces asked for no audit. The settings of a Config that is gone stay.
func (c *core) configureSender(update *source.Update) {
	if update.Config == nil {
		return
	}
	endpoint := &update.Config.Endpoint
	var settings *tracing.Settings
	var problem string
	if to := endpoint.AuditLines.OTLP; to != nil {
		settings, problem = settingsFor(to, update.AuditHeaders, "spec.observability.audit.otlp.headersSecretRef")
	}
	c.tellUnsent("No audit lines are sent to the collector", problem, &c.auditProblem)
	if settings != nil {
		c.describe(settings, endpoint)
	}
	c.sender.Configure(settings)
}

// retryAudit is the time between two looks whether audit lines can be written again.
const retryAudit = 2 * time.Second

// watchAudit finds out when audit lines can be written again though nobody calls, until ctx ends.
func (c *core) watchAudit(ctx context.Context) {
	ticker := time.NewTicker(retryAudit)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.audit.Try()
		}
	}
}

// lostPause is the shortest time between two lines of the log about audit lines that could not be written.
const lostPause = 10 * time.Second

// lostLines counts audit lines that could not be written.
type lostLines struct {
	log     *slog.Logger
	metrics *telemetry.Metrics
	count   atomic.Int64
	// next is when the log may be told again, in Unix nanoseconds.
	next atomic.Int64
}

// tell counts a line, and tells the log of it if that was not told lately.
func (l *lostLines) tell(err error) {
	l.metrics.AuditLost(telemetry.LostUnwritten, 1)
	lost, now := l.count.Add(1), time.Now().UnixNano()
	if next := l.next.Load(); now >= next && l.next.CompareAndSwap(next, now+int64(lostPause)) {
		l.log.Error("An audit line could not be written", "error", err, "lost_since_start", lost)
	}
}
