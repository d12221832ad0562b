package otlp

import (
	"context"
	"log/slog"
	"sync"

	sdklog "go.opentelemetry.io/otel/sdk/log"

	"github.com/mcp-admin/mcp-admin-operator/contract/tracing"
)

// A queue holds the lines that wait for the collector: at most maxWaiting with maxWaitingBytes. It counts them itself, because the SDK's
// processor does not tell what it drops, and knows no bytes; of those that the queue lets in it drops none.
type queue struct {
	sdklog.Processor
	dropped func(string, int)

	mu    sync.Mutex
	lines int
	bytes int
}

func newQueue(to sdklog.Exporter, log *slog.Logger, dropped func(string, int), settings *tracing.Settings) *queue {
	q := &queue{dropped: dropped}
	q.Processor = sdklog.NewBatchProcessor(&exporter{
		Exporter: to, queue: q,
		failures: tracing.NewFailures(log, settings, dropped, "Audit lines could not be sent to the collector; they are on standard output all the same", "lines"),
	},
		sdklog.WithMaxQueueSize(maxWaiting), sdklog.WithExportMaxBatchSize(maxBatch), sdklog.WithExportTimeout(exportTimeout))
	return q
}

// OnEmit implements sdklog.Processor.
func (q *queue) OnEmit(ctx context.Context, r *sdklog.Record) error {
	if !q.enter(bytesOf(r)) {
		q.dropped(tracing.DroppedFull, 1)
		return nil
	}
	return q.Processor.OnEmit(ctx, r)
}

// bytesOf is about the memory that a record takes: nearly all of it is the line.
func bytesOf(r *sdklog.Record) int { return len(r.Body().AsString()) }

// enter lets a line of so many bytes in, unless there is no room.
func (q *queue) enter(bytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lines == maxWaiting || q.bytes+bytes > maxWaitingBytes {
		return false
	}
	q.lines, q.bytes = q.lines+1, q.bytes+bytes
	return true
}

func (q *queue) leave(records []sdklog.Record) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines -= len(records)
	for i := range records {
		q.bytes -= bytesOf(&records[i])
	}
}

// dropRest counts the lines that still wait when nothing is sent any more.
func (q *queue) dropRest() {
	q.mu.Lock()
	rest := q.lines
	q.lines, q.bytes = 0, 0
	q.mu.Unlock()
	if rest > 0 {
		q.dropped(tracing.DroppedFailed, rest)
	}
}

// exporter notes what it could not send.
type exporter struct {
	sdklog.Exporter
	queue    *queue
	failures *tracing.Failures
}

// Export implements sdklog.Exporter. Its error goes no further: it may have what the collector said.
func (e *exporter) Export(ctx context.Context, records []sdklog.Record) error {
	err := e.Exporter.Export(ctx, records)
	e.queue.leave(records)
	if err != nil {
		e.failures.Note(len(records), err)
	}
	return nil
}
