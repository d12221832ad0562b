package server

import (
	"maps"
	"slices"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
	"github.com/mcp-admin/mcp-admin-operator/server/telemetry"
)

// poolUses count the connections of each pool, whichever databases are open.
type poolUses struct {
	// primary is the database's own pool, and in SQLite the one that only reads; writer is SQLite's other.
	primary, replicas, writer database.PoolUse
}

// reading is what the metrics tell of the core when they are read.
func (c *core) reading(now time.Time) telemetry.Reading {
	c.mu.Lock()
	tokens, db := c.tokens, c.databases.current
	problem := c.schema != nil && c.schema.IdempotencyProblem != ""
	c.mu.Unlock()

	r := telemetry.Reading{Keys: c.kept.Counted(), KeysProblem: problem, Pools: c.pools(db)}
	if db != nil && db.replicated != nil {
		r.Replicas = db.replicated.reading()
	}
	r.Tokens, r.Expiring = expiring(tokens, now)
	if c.certificate != nil {
		if inUse := c.certificate.inUse.Load(); inUse != nil {
			r.CertificateExpiry = inUse.Leaf.NotAfter
		}
	}
	return r
}

// pools reads the pools that the open database has.
func (c *core) pools(db *openDatabase) map[string]telemetry.Pool {
	uses := &c.databases.uses
	pools := map[string]telemetry.Pool{"primary": telemetry.Pool(uses.primary.Read())}
	if db != nil && db.replicated != nil {
		pools["replicas"] = telemetry.Pool(uses.replicas.Read())
	}
	if writer := telemetry.Pool(uses.writer.Read()); writer.Limit > 0 {
		pools["writer"] = writer
	}
	return pools
}

// horizons are the times within which tokens that expire are counted.
var horizons = []struct {
	name   string
	within time.Duration
}{{"1h", time.Hour}, {"1d", 24 * time.Hour}, {"7d", 7 * 24 * time.Hour}, {"30d", 30 * 24 * time.Hour}}

// expiring counts the tokens in force, and those that expire within each horizon.
func expiring(tokens *access.Directory, now time.Time) (inForce int, expiring []telemetry.Expiring) {
	counts := [2][]int{make([]int, len(horizons)), make([]int, len(horizons))}
	for expiry, long := range tokens.InForce(now) {
		inForce++
		for i, h := range horizons {
			if expiry != nil && !expiry.After(now.Add(h.within)) {
				counts[index(long)][i]++
			}
		}
	}
	for i, h := range horizons {
		expiring = append(expiring,
			telemetry.Expiring{Within: h.name, Tokens: counts[index(false)][i]},
			telemetry.Expiring{Within: h.name, Long: true, Tokens: counts[index(true)][i]})
	}
	return inForce, expiring
}

func index(long bool) int {
	if long {
		return 1
	}
	return 0
}

// reading is what the metrics tell of the replicas.
func (r *replicatedDatabase) reading() *telemetry.Replicas {
	told := &telemetry.Replicas{Up: r.usable.Load(), Lag: -1}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exact && !r.fresh.IsZero() {
		told.Lag = time.Since(r.fresh)
	}
	return told
}

// measuredModels are the models that have series of their own in the metrics of calls; nil if none has.
func measuredModels(s *snapshot.Snapshot) []string {
	if s == nil || !s.Settings().MetricsPerModel {
		return nil
	}
	models := map[string]bool{}
	for i := range s.Config().Models {
		if m := &s.Config().Models[i]; m.Expose {
			models[m.Name] = true
		}
	}
	return slices.Collect(maps.Keys(models))
}
