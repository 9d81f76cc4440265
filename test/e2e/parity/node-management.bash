#!/usr/bin/env bash
# Runs kubectl's own test of node management, with the shell libraries of the Kubernetes module. Records the verdict of each assertion,
# instead of ending at the first that fails.
# Usage: node-management.bash MODULE RECORD SERVER, with KUBECONFIG set and the kubectl under test first on the PATH.
set -o errexit -o nounset -o pipefail

module=$1
record=$2
server=$3
script="${module}/test/cmd/node-management.sh"

# A check in Kubernetes' script leaves a folder in /tmp. Here, the folder is made in TMPDIR.
mktemp() { command mktemp "${@/#\/tmp\//${TMPDIR}/}"; }

# As in the module's hack/make-rules/test-cmd.sh, which would also build and start an API server.
source "${module}/hack/lib/init.sh"
source "${module}/hack/lib/test.sh"
source "${module}/test/cmd/legacy-script.sh"

# As in runTests of legacy-script.sh, with ALLOW_SKEW, because the plugin has no version that a server could match.
export id_field=".metadata.name"
kube_flags=(-s "${server}" --insecure-skip-tls-verify)
CONTEXT=$(kubectl config current-context)

# Replaces each assertion of the script by one that also records its verdict and line, for example "passed 94".
for assertion in $(grep -o 'kube::test::[a-z_]*' "${script}" | sort -u); do
	eval "original::$(declare -f "${assertion}")"
	eval "${assertion}() {
		local verdict=failed
		if original::${assertion} \"\$@\"; then verdict=passed; fi
		echo \"\${verdict} \${BASH_LINENO[0]}\" >> '${record}'
	}"
done

run_cluster_management_tests
echo "finished 0" >> "${record}"
