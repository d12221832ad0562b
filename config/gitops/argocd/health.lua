-- The health of an MCPEndpoint, MCPModelExposure or MCPToken for Argo CD. It says the same as kstatus: Healthy is Current,
-- Degraded is Failed, and Progressing and Suspended are InProgress.
local health = {status = "Progressing", message = "nobody has looked at this generation yet"}
local status = obj.status or {}
if status.observedGeneration ~= obj.metadata.generation then
  return health
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end
local ready = conditions.Ready
if ready == nil then
  return health
end

health.message = ready.reason
if ready.message ~= nil and ready.message ~= "" then
  health.message = ready.reason .. ": " .. ready.message
end
if conditions.Stalled ~= nil and conditions.Stalled.status == "True" then
  health.status = "Degraded"
elseif ready.status == "True" then
  health.status = "Healthy"
elseif ready.reason == "Paused" then
  health.status = "Suspended"
end
return health
