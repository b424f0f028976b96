package kubernetes

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/apis/batch"
	"k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/batch/validation"
)

const manifest = "../../../deploy/kubernetes-indexed-job.yaml"

// documents are the YAML documents of the manifest.
func documents(t *testing.T) [][]byte {
	t.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for r := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		one, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
}

// create does what the API server does with a Job before it stores it.
func create(text []byte) (*batch.Job, error) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(batch.SchemeGroupVersion)
	object, err := runtime.Decode(decoder, text) // with defaults; an unknown or repeated field is an error
	if err != nil {
		return nil, err
	}
	made, ok := object.(*batch.Job)
	if !ok {
		return nil, errors.New("no Job")
	}
	made.Namespace, made.UID = "default", "5e1ec7ed" // the server gives these, and the labels by which a Job knows its pods
	labels := map[string]string{batchv1.ControllerUidLabel: string(made.UID), batchv1.JobNameLabel: made.Name}
	maps.Copy(labels, map[string]string{"controller-uid": string(made.UID), "job-name": made.Name}) // their old names
	made.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{batchv1.ControllerUidLabel: string(made.UID)}}
	if made.Spec.Template.Labels == nil {
		made.Spec.Template.Labels = map[string]string{}
	}
	maps.Copy(made.Spec.Template.Labels, labels)
	return made, validation.ValidateJob(made, validation.JobValidationOptions{RequirePrefixedLabels: true}).ToAggregate()
}

func TestManifestIsAccepted(t *testing.T) {
	all := documents(t)
	if len(all) != 2 {
		t.Fatalf("found %d documents, expected the parts and the commit", len(all))
	}
	for i, text := range all {
		made, err := create(text)
		if err != nil {
			t.Error(err)
		} else if suspended := made.Spec.Suspend != nil && *made.Spec.Suspend; suspended != (i == 1) {
			t.Errorf("document %d: suspended is %v; the commit waits, the parts do not", i, suspended)
		}
	}
}

// TestMistakesAreSeen: create refuses what the API server refuses.
func TestMistakesAreSeen(t *testing.T) {
	parts := string(documents(t)[0])
	for name, change := range map[string][2]string{
		"a field that does not exist":      {"completionMode:", "completionmodus:"},
		"FailIndex without a limit":        {"  backoffLimitPerIndex: 4\n", ""},
		"a pod that restarts":              {"restartPolicy: Never", "restartPolicy: OnFailure"},
		"a rule about no container":        {"containerName: idxport\n          operator: In\n          values: [66", "containerName: other\n          operator: In\n          values: [66"},
		"exit code 0":                      {"values: [66, 70]", "values: [0, 66]"},
		"more requested than is the limit": {`limits: {cpu: "2"`, `limits: {cpu: "1"`},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(parts, change[0], change[1], 1)
			if changed == parts {
				t.Fatalf("the manifest has no %q", change[0])
			}
			if _, err := create([]byte(changed)); err == nil {
				t.Error("no error")
			}
		})
	}
}

// action is the action of the first rule that matches an exit code, as the API documents it:
// https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy
func action(policy *batch.PodFailurePolicy, code int32) batch.PodFailurePolicyAction {
	for _, rule := range policy.Rules {
		if on := rule.OnExitCodes; on != nil && (on.Operator == batch.PodFailurePolicyOnExitCodesOpIn) == slices.Contains(on.Values, code) {
			return rule.Action
		}
	}
	return "" // no rule
}

// TestExitCodes: every exit code of docs/unattended.md matches a rule, and is retried if the
// document says so.
func TestExitCodes(t *testing.T) {
	table, err := os.ReadFile("../../../docs/unattended.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range documents(t) {
		made, err := create(text)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for _, row := range regexp.MustCompile(`(?m)^\| ([\d, ]+) \| .* \| (.*) \|$`).FindAllStringSubmatch(string(table), -1) {
			for word := range strings.SplitSeq(row[1], ", ") {
				code, err := strconv.Atoi(word)
				if err != nil {
					t.Fatal(err)
				}
				if code == 0 || code == 1 || code == 141 { // done; verify alone; standard output alone
					continue
				}
				seen++
				found, again := action(made.Spec.PodFailurePolicy, int32(code)), strings.HasPrefix(row[2], "**yes**")
				if (found == batch.PodFailurePolicyActionCount) != again || found == "" {
					t.Errorf("document %d: exit code %d: %q, but the table says: %s", i, code, found, row[2])
				}
			}
		}
		if seen < 10 {
			t.Errorf("document %d: found %d exit codes in the table", i, seen)
		}
	}
}
