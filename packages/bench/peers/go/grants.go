package main

import (
	"errors"
	"sync"
	"time"
)

const slow = 50 * time.Millisecond

// Who was granted what when. A hand-off counts when somebody was waiting as the one before let go.
type grants struct {
	mutex            sync.Mutex
	start            time.Time
	uncounted, count int
	waiting          int
	isContested      bool
	last, sameTwice  int
	released         time.Duration
	times            []time.Duration
}

func (g *grants) requesting() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.waiting++
}

func (g *grants) granted(id int) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.waiting--
	if g.isContested && g.count >= g.uncounted {
		g.times = append(g.times, time.Since(g.start)-g.released)
		if id == g.last {
			g.sameTwice++
		}
	}
	g.count, g.last = g.count+1, id
}

func (g *grants) releasing() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.isContested = g.waiting > 0
	g.released = time.Since(g.start)
}

func (g *grants) result() (result, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	count := len(g.times)
	if count == 0 {
		return nil, errors.New("no hand-off was counted: give more rounds")
	}
	stalls := 0
	for _, time := range g.times {
		if time > slow {
			stalls++
		}
	}
	return result{
		"mean":      each(sum(g.times), count),
		"p50":       quantile(0.5, g.times),
		"p99":       quantile(0.99, g.times),
		"max":       quantile(1, g.times),
		"over50ms":  stalls,
		"handoffs":  count,
		"sameTwice": float64(g.sameTwice) / float64(count),
	}, nil
}
