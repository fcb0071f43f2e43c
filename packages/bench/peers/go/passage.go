package main

import (
	"sync"
	"time"
)

// The times from each release call until the next one knows, of a line that all pass without stopping.
type passage struct {
	// It is always the turn of one alone, which the compiler does not know.
	mutex    sync.Mutex
	start    time.Time
	cpu      time.Duration
	released time.Duration
	times    []time.Duration
}

func (p *passage) begin(waiters int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.times = make([]time.Duration, 0, waiters)
	p.cpu, p.start = cpuTime(), time.Now()
}

// To be called by whoever knows that it is its turn, before it lets the next one go. Answers with how many have passed.
func (p *passage) pass() int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := time.Since(p.start)
	p.times = append(p.times, now-p.released)
	p.released = now
	return len(p.times)
}

func (p *passage) result(enqueue time.Duration) result {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return result{
		"p50":       quantile(0.5, p.times),
		"p99":       quantile(0.99, p.times),
		"totalMs":   millis(sum(p.times)),
		"enqueueMs": millis(enqueue),
		"clientCpu": each(cpuTime()-p.cpu, len(p.times)),
	}
}
