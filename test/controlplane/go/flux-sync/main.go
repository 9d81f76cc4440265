// Applies the objects from stdin as Flux' kustomize-controller does, with its library: only where a server-side dry run differs from the
// cluster. Prints for each object whether it was created, configured or unchanged.
//
//	flux-sync --kubeconfig=FILE --context=NAME <objects.yaml
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"github.com/fluxcd/pkg/ssa/utils"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const controller = "kustomize-controller"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig")
	name := flag.String("context", "", "its context")
	flag.Parse()
	log.SetLogger(logr.Discard())
	if err := sync(context.Background(), *kubeconfig, *name, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func sync(ctx context.Context, kubeconfig, name string, in io.Reader, out io.Writer) error {
	config, err := accountConfig(kubeconfig, name)
	if err != nil {
		return err
	}
	objects, err := utils.ReadObjects(in)
	if err != nil {
		return fmt.Errorf("cannot read the objects: %w", err)
	}
	caller, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	poller := polling.NewStatusPoller(caller, caller.RESTMapper(), polling.Options{})
	manager := ssa.NewResourceManager(caller, poller, ssa.Owner{
		Field: controller,
		Group: "kustomize.toolkit.fluxcd.io",
	})
	manager.SetOwnerLabels(objects, "xpdb", "flux-system")
	if err := normalize.UnstructuredList(objects); err != nil {
		return err
	}
	changes, err := manager.ApplyAllStaged(ctx, objects, options())
	if changes != nil {
		for _, entry := range changes.Entries {
			fmt.Fprintln(out, entry.Subject, entry.Action)
		}
	}
	return err
}

// Impersonates the controller's account, which is cluster-admin in Flux' installation.
func accountConfig(kubeconfig, name string) (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: name},
	).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:flux-system:" + controller,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:flux-system", "system:authenticated"},
	}
	config.QPS, config.Burst = 100, 200
	return config, nil
}

// The controller takes over fields from these managers. It matches prefixes, so "kubectl" includes kubectl-xpdb.
func options() ssa.ApplyOptions {
	options := ssa.DefaultApplyOptions()
	options.Cleanup = ssa.ApplyCleanupOptions{
		Annotations: []string{corev1.LastAppliedConfigAnnotation},
		FieldManagers: []ssa.FieldManager{
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationApply},
			{Name: "kubectl", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: "before-first-apply", OperationType: metav1.ManagedFieldsOperationUpdate},
			{Name: controller, OperationType: metav1.ManagedFieldsOperationUpdate},
		},
	}
	return options
}
