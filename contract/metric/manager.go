package metric

// Manager are the metrics of the manager, in the order in which the documents show them.
var Manager = []Metric{
	{
		Name:     "mcp_admin_manager_objects",
		Meaning:  "objects by `kind`, and by status (`ready`) and `reason` of their condition Ready; the reason is None before the first status",
		Question: `sum by (kind, reason) (mcp_admin_manager_objects{ready!="True"})`,
		Alerts:   []string{"MCPEndpointNotReady", "MCPEndpointStuck"},
	},
	{
		Name:     "mcp_admin_manager_removals_late",
		Meaning:  "removals of access that not every server pod has applied after 10 s",
		Question: `mcp_admin_manager_removals_late > 0`,
		Alerts:   []string{"MCPAccessNotRemoved"},
	},
	{
		Name:     "mcp_admin_manager_removal_duration_seconds",
		Meaning:  "from when the manager saw that access is taken away until every server pod refused it",
		Question: `histogram_quantile(0.99, sum by (le) (rate(mcp_admin_manager_removal_duration_seconds_bucket[5m])))`,
	},
	{
		Name:     "mcp_admin_manager_config_writes_total",
		Meaning:  "writes of endpoints' Configs, by `result`: written, refused (somebody else wrote it, or has its name), too_large, failed",
		Question: `sum by (result) (rate(mcp_admin_manager_config_writes_total[5m]))`,
		Alerts:   []string{"MCPConfigNotWritten"},
	},
	{
		Name:     "mcp_admin_manager_tokens_issued_total",
		Meaning:  "tokens issued, by `cause`: new, reissued (the Secret was deleted or changed), rotated",
		Question: `increase(mcp_admin_manager_tokens_issued_total{cause="reissued"}[1h])`,
	},
	{
		Name:     "mcp_admin_manager_tokens_revoked_total",
		Meaning:  "tokens whose access was taken away, by `cause`: deleted, inactive",
		Question: `sum by (cause) (increase(mcp_admin_manager_tokens_revoked_total[1d]))`,
	},
	{
		Name:     "mcp_admin_manager_step_duration_seconds",
		Meaning:  "how long a `step` of a reconcile took, by `kind`: compile, write_config, apply_workload, observe, issue, write_status",
		Question: `histogram_quantile(0.99, sum by (kind, step, le) (rate(mcp_admin_manager_step_duration_seconds_bucket[5m])))`,
	},
	{
		Name:     "mcp_admin_manager_yielded_namespaces",
		Meaning:  "namespaces (`namespace`) that another `installation` looks after, so that this one leaves them alone; all is the whole cluster",
		Question: `mcp_admin_manager_yielded_namespaces`,
		Alerts:   []string{"MCPTwoInstallations"},
	},
	{
		Name:     "mcp_admin_manager_configs_overtaken_total",
		Meaning:  "Configs that were older than what their pods have had, as after etcd was restored from a backup",
		Question: `increase(mcp_admin_manager_configs_overtaken_total[1h]) > 0`,
		Alerts:   []string{"MCPConfigOlderThanPods"},
	},
	{
		Name:     "mcp_admin_manager_approvals_waiting",
		Meaning:  "calls that wait for people, by `endpoint` (namespace/name); none is no value",
		Question: `max by (endpoint) (mcp_admin_manager_approvals_waiting)`,
	},
	{
		Name:     "mcp_admin_manager_approval_overrides_total",
		Meaning:  "calls that somebody allowed against the policies, with the verb override",
		Question: `increase(mcp_admin_manager_approval_overrides_total[1d]) > 0`,
		Alerts:   []string{"MCPApprovalOverridden"},
	},
	{
		Name:     "mcp_admin_manager_rollouts_waiting",
		Meaning:  "endpoints whose servers wait until a new manager has replaced others'",
		Question: `max(mcp_admin_manager_rollouts_waiting)`,
		Alerts:   []string{"MCPEndpointStuck", "MCPReconcilesFail"},
	},
	{
		Name:     "mcp_admin_manager_key_missing",
		Meaning:  "1 while the Secret mcp-admin-manager-key does not hold the leader's key (looked at every minute)",
		Question: `max(mcp_admin_manager_key_missing) > 0`,
		Alerts:   []string{"MCPManagerKeyMissing"},
	},
	{
		Name:     "leader_election_master_status",
		Meaning:  "1 in the leader",
		Question: `sum(leader_election_master_status{name="mcp-admin-manager.mcpadmin.dev"})`,
		Alerts:   []string{"MCPManagerHasNoLeader"},
		Foreign:  true,
	},
	{
		Name:     "controller_runtime_reconcile_errors_total",
		Meaning:  "reconciles that failed, by `controller`",
		Question: `sum by (controller) (rate(controller_runtime_reconcile_errors_total[5m]))`,
		Alerts:   []string{"MCPReconcilesFail"},
		Foreign:  true,
	},
	buildInfo,
}

// buildInfo is a metric of both programs.
var buildInfo = Metric{
	Name:     BuildInfo,
	Meaning:  "always 1: the program's `version`, the `revision` of its source (unknown if the build did not say), and the `goversion` it was built with",
	Question: `count by (job, version) (mcp_admin_build_info)`,
}

// BuildInfo is the name of the metric that both programs have.
const BuildInfo = "mcp_admin_build_info"
