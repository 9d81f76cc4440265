{{- /* Fills the values into the object. */}}
{{- define "xpdb.fillIn" }}
{{- $object := .object }}
{{- if and (eq $object.kind "Deployment") (eq $object.metadata.name "xpdb-agent") }}
{{- $pod := $object.spec.template.spec }}
{{- $agent := first $pod.containers }}
{{- if .values.image }}{{ $_ := set $agent "image" .values.image }}{{ end }}
{{- if .values.imagePullSecret }}{{ $_ := set $pod "imagePullSecrets" (list (dict "name" .values.imagePullSecret)) }}{{ end }}
{{- if .values.imagePullPolicy }}{{ $_ := set $agent "imagePullPolicy" .values.imagePullPolicy }}{{ end }}
{{- with .values.agent }}
{{- if .memory }}
{{- $_ := set $agent.resources.requests "memory" .memory }}
{{- $_ := set $agent.resources.limits "memory" .memory }}
{{- end }}
{{- if .cpu }}{{ $_ := set $agent.resources.requests "cpu" .cpu }}{{ end }}
{{- if .replicas }}{{ $_ := set $object.spec "replicas" .replicas }}{{ end }}
{{- if .nodeSelector }}{{ $_ := set $pod "nodeSelector" .nodeSelector }}{{ end }}
{{- if .tolerations }}{{ $_ := set $pod "tolerations" .tolerations }}{{ end }}
{{- if .affinity }}{{ $_ := set $pod "affinity" .affinity }}{{ end }}
{{- if .priorityClass }}{{ $_ := set $pod "priorityClassName" .priorityClass }}{{ end }}
{{- if .annotations }}{{ $_ := set $object.spec.template.metadata "annotations" .annotations }}{{ end }}
{{- end }}
{{- if ne .values.agentNamespace "xpdb-system" }}
{{- $flags := list (printf "--agent-namespace=%s" .values.agentNamespace) (printf "--lease-namespace=%s" .values.agentNamespace) }}
{{- $_ := set $agent "args" (concat $agent.args $flags) }}
{{- end }}
{{- end }}
{{- if eq $object.kind "NetworkPolicy" }}
{{- range $rule := $object.spec.ingress }}
{{- range $from := $rule.from }}
{{- if hasKey $from "namespaceSelector" }}
{{- $_ := set $from.namespaceSelector "matchLabels" (dict "kubernetes.io/metadata.name" $.values.metricsNamespace) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (hasSuffix "RoleBinding" $object.kind) (eq $object.metadata.name "xpdb-operators") .values.operators }}
{{- $subjects := list }}
{{- range .values.operators }}
{{- $subjects = append $subjects (dict "apiGroup" "rbac.authorization.k8s.io" "kind" "Group" "name" .) }}
{{- end }}
{{- $_ := set $object "subjects" $subjects }}
{{- end }}
{{- end }}

{{- /* Creates the objects of .team from the example in .text, as plugin/install/team-objects.ts does. */}}
{{- define "xpdb.team" }}
{{- $team := .team }}
{{- range $document := regexSplit "(?m)^---\n" (.text | replace "xpdb-system" .values.agentNamespace | replace "team-shop" $team.account) -1 }}
{{- $object := fromYaml $document }}
{{- if hasKey $object "Error" }}{{ fail (printf "team.yaml: %s" $object.Error) }}{{ end }}
{{- $subjects := list }}
{{- range $subject := $object.subjects }}
{{- if eq $subject.kind "Group" }}
{{- range $team.groups }}{{ $subjects = append $subjects (merge (dict "name" .) $subject) }}{{ end }}
{{- else }}
{{- $subjects = append $subjects $subject }}
{{- end }}
{{- end }}
{{- if $subjects }}{{ $_ := set $object "subjects" $subjects }}{{ end }}
{{- include "xpdb.label" (dict "object" $object "values" $.values "service" $.service) }}
{{- $namespaces := list $object.metadata.namespace }}
{{- if eq (default "" $object.metadata.namespace) "shop" }}{{ $namespaces = $team.namespaces }}{{ end }}
{{- range $namespace := $namespaces }}
{{- if eq (default "" $namespace) $.values.agentNamespace }}
{{- if ne $object.metadata.namespace $.values.agentNamespace }}{{ fail "teams: the agents' namespace is reserved for the agents" }}{{ end }}
{{- end }}
{{- if $namespace }}{{ $_ := set $object.metadata "namespace" $namespace }}{{ end }}
---
{{ toYaml $object }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Labels the object with its owner. Marks the kind of budgets, so that it and all budgets stay when the release is uninstalled. */}}
{{- define "xpdb.label" }}
{{- $metadata := .object.metadata }}
{{- $labels := dict "app.kubernetes.io/managed-by" .service }}
{{- if eq .object.kind "CustomResourceDefinition" }}
{{- $_ := set $metadata "annotations" (merge (dict "helm.sh/resource-policy" "keep") (default dict $metadata.annotations)) }}
{{- else }}
{{- $_ := set $labels "xpdb.form3.tech/agent-namespace" .values.agentNamespace }}
{{- end }}
{{- $_ := set $metadata "labels" (merge $labels (default dict $metadata.labels)) }}
{{- end }}

{{- /* Creates the Service through which the agents of other clusters connect, as plugin/install/expose/peers-service.ts does. */}}
{{- define "xpdb.peersService" }}
{{- $name := dict "app.kubernetes.io/name" "xpdb-agent" }}
{{- $metadata := dict "name" "xpdb-peers" "namespace" .agentNamespace "labels" (deepCopy $name) }}
{{- with .expose }}
{{- if .annotations }}
{{- $keys := dict "xpdb.form3.tech/expose-annotations" (keys .annotations | sortAlpha | join ",") }}
{{- $_ := set $metadata "annotations" (merge $keys .annotations) }}
{{- end }}
{{- $port := dict "name" "peers" "port" 8444 "protocol" "TCP" "targetPort" "peers" }}
{{- $spec := dict "type" (get (dict "loadbalancer" "LoadBalancer" "nodeport" "NodePort") .kind) "selector" $name "ports" (list $port) }}
{{- if eq .kind "nodeport" }}{{ $_ := set $spec "ipFamilyPolicy" "PreferDualStack" }}{{ end }}
{{- if .loadBalancerClass }}{{ $_ := set $spec "loadBalancerClass" .loadBalancerClass }}{{ end }}
{{- if .sources }}{{ $_ := set $spec "loadBalancerSourceRanges" .sources }}{{ end }}
{{- toYaml (dict "apiVersion" "v1" "kind" "Service" "metadata" $metadata "spec" $spec) }}
{{- end }}
{{- end }}

{{- /* Refuses lists that agents refuse (disruption/budget/declared-fleet.ts) and that a schema cannot check. */}}
{{- define "xpdb.refuse" }}
{{- $ids := dict }}
{{- $names := dict }}
{{- range $member := .members }}
{{- if hasKey $ids $member.id }}{{ fail (printf "members: the id %s is listed twice" $member.id) }}{{ end }}
{{- if hasKey $names $member.name }}{{ fail (printf "members: the name %s is listed twice" $member.name) }}{{ end }}
{{- $_ := set $ids $member.id true }}
{{- $_ := set $names $member.name true }}
{{- end }}
{{- range $gone := .forgotten }}
{{- if hasKey $ids $gone.id }}{{ fail (printf "forgotten: the id %s is also in members, or listed twice" $gone.id) }}{{ end }}
{{- $_ := set $ids $gone.id true }}
{{- end }}
{{- end }}
