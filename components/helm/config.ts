/** The JSON of a ConfigMap from values. */

/**
 * Template `muster.json`; takes `object` and `order`, its fields in the wire's order. Equal values give the text that the
 * package itself gives, so that no agent is restarted because its manifests come from a chart.
 */
export const jsonHelper = `{{- define "muster.json" -}}
{{- $object := .object -}}
{{- $lines := list -}}
{{- range $key := concat .order (keys $object | sortAlpha) | uniq -}}
{{- if hasKey $object $key -}}
{{- $lines = append $lines (printf "  %s: %s" (toJson $key) (get $object $key | toPrettyJson | indent 2 | trim)) -}}
{{- end -}}
{{- end -}}
{{- printf "{\\n%s\\n}" (join ",\\n" $lines) -}}
{{- end -}}
`;
