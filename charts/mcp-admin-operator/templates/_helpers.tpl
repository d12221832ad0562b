{{/* The chart's name. */}}
{{- define "mcp-admin.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name that everything of the release begins with: at most 45 characters, as suffixes follow. */}}
{{- define "mcp-admin.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- $name := include "mcp-admin.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* A name for what belongs to the whole cluster: two releases in two namespaces must not meet. */}}
{{- define "mcp-admin.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "mcp-admin.fullname" .) }}
{{- end }}

{{- define "mcp-admin.selectorLabels" -}}
app.kubernetes.io/name: {{ include "mcp-admin.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: manager
{{- end }}

{{- define "mcp-admin.labels" -}}
{{ include "mcp-admin.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "mcp-admin.pageSelectorLabels" -}}
app.kubernetes.io/name: {{ include "mcp-admin.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: page
{{- end }}

{{- define "mcp-admin.pageLabels" -}}
{{ merge (include "mcp-admin.pageSelectorLabels" . | fromYaml) (include "mcp-admin.labels" . | fromYaml) | toYaml }}
{{- end }}

{{- define "mcp-admin.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "mcp-admin.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- required "serviceAccount.name is needed where serviceAccount.create is false" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The rules of one of the roles under files/, as config/rbac has them. */}}
{{- define "mcp-admin.rules" -}}
{{- $role := .Files.Get .file | fromYaml }}
{{- required (printf "%s has no rules" .file) $role.rules | toYaml }}
{{- end }}

{{/* The reference of an image: "image" is its values, "appVersion" its tag if they name none. */}}
{{- define "mcp-admin.image" -}}
{{- $name := printf "%s/%s" .image.registry .image.repository }}
{{- if .image.digest }}
{{- printf "%s@%s" $name .image.digest }}
{{- else }}
{{- printf "%s:%s" $name (default .appVersion .image.tag) }}
{{- end }}
{{- end }}
