package main

import (
	"sync"
	"time"
)

// One round of a loop: how long its first call took, and how long all that counts of it.
type cycle func() (first, whole time.Duration, err error)

type tally struct {
	firsts, wholes []time.Duration
	err            error
}

// Runs all loops at once: `warm` cycles of each that do not count, then for as long as the window.
func repeat(loops []cycle, warm int, window time.Duration) (result, error) {
	if all := together(loops, func(done int) bool { return done < warm }); all.err != nil {
		return nil, all.err
	}
	cpu, start := cpuTime(), time.Now()
	all := together(loops, func(int) bool { return time.Since(start) < window })
	if all.err != nil {
		return nil, all.err
	}
	cycles := len(all.wholes)
	return result{
		"cycles":     cycles,
		"warmed":     warm * len(loops),
		"p50":        quantile(0.5, all.wholes),
		"p99":        quantile(0.99, all.wholes),
		"perSecond":  tenths(float64(cycles) / time.Since(start).Seconds()),
		"clientCpu":  each(cpuTime()-cpu, cycles),
		"acquireP50": quantile(0.5, all.firsts),
	}, nil
}

func together(loops []cycle, goesOn func(done int) bool) (all tally) {
	tallies := make([]tally, len(loops))
	var running sync.WaitGroup
	for i := range loops {
		running.Add(1)
		go func(mine *tally, once cycle) {
			defer running.Done()
			for done := 0; goesOn(done) && mine.err == nil; done++ {
				first, whole, err := once()
				mine.firsts, mine.wholes, mine.err = append(mine.firsts, first), append(mine.wholes, whole), err
			}
		}(&tallies[i], loops[i])
	}
	running.Wait()
	for _, one := range tallies {
		all.firsts, all.wholes = append(all.firsts, one.firsts...), append(all.wholes, one.wholes...)
		if one.err != nil {
			all.err = one.err
		}
	}
	return all
}
