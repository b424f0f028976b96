package png

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxGaps is how many labels that do not occur are listed.
const maxGaps = 10

// A labelSet is the labels that occurred. It is safe on many goroutines; each adds a label once.
type labelSet struct {
	mu     sync.Mutex
	labels map[int64]bool
}

func (s *labelSet) add(label int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labels == nil {
		s.labels = map[int64]bool{}
	}
	s.labels[label] = true
}

// gaps lists the labels below the largest one that did not occur; it is empty if there are none.
func (s *labelSet) gaps() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sorted []int64
	for label := range s.labels {
		sorted = append(sorted, label)
	}
	slices.Sort(sorted)
	var missing []string
	next := int64(0)
	for _, label := range sorted {
		for ; next < label; next++ {
			if len(missing) == maxGaps {
				return strings.Join(missing, ", ") + " and others"
			}
			missing = append(missing, strconv.FormatInt(next, 10))
		}
		next = label + 1
	}
	return strings.Join(missing, ", ")
}
