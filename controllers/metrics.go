package controllers

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// The manager's own metrics, beside those of controller-runtime.
var (
	configWrites = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_manager_config_writes_total",
		Help: "Writes of endpoints' Configs, by result: written, refused (somebody else wrote it, or has its name), too_large, failed.",
	}, []string{"result"})
	tokensIssued = promauto.With(metrics.Registry).NewCounterVec(prometheus.CounterOpts{
		Name: "mcp_admin_manager_tokens_issued_total",
		Help: "Tokens that were issued, by cause: new, reissued (the Secret was deleted or changed), rotated.",
	}, []string{"cause"})
)
