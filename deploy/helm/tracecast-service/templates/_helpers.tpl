{{- /* The grace period: longer than the shutdown, so that the orderly end is not cut off, and telemetry with it. */ -}}
{{- define "gracePeriod" -}}
{{- $shutdown := divf .Values.shutdownTimeoutMs 1000 | ceil | int -}}
{{- $own := .Values.terminationGracePeriodSeconds -}}
{{- if kindIs "invalid" $own -}}
{{- add $shutdown .Values.gracePeriodMarginSeconds -}}
{{- else if le (int $own) $shutdown -}}
{{- fail (printf "terminationGracePeriodSeconds: %d does not exceed shutdownTimeoutMs: %d; the shutdown would be cut off. Leave it out, or set at least %d" (int $own) (int .Values.shutdownTimeoutMs) (add $shutdown 1)) -}}
{{- else -}}
{{- int $own -}}
{{- end -}}
{{- end -}}

{{- define "labels" -}}
app.kubernetes.io/name: {{ .Values.serviceName }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
