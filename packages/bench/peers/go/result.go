package main

import (
	"encoding/json"
	"math"
	"os"
	"sort"
	"syscall"
	"time"
)

// One line of JSON.
type result map[string]interface{}

func say(line result) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}

// Microseconds, to a tenth.
func micros(time time.Duration) float64 {
	return tenths(float64(time.Nanoseconds()) / 1_000)
}

// To a tenth too.
func millis(time time.Duration) float64 {
	return tenths(float64(time.Nanoseconds()) / 1_000_000)
}

func tenths(number float64) float64 {
	return math.Round(number*10) / 10
}

func each(total time.Duration, count int) float64 {
	return micros(total / time.Duration(count))
}

// The smallest of them that at least this share does not exceed; 0 of none.
func quantile(share float64, times []time.Duration) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := append([]time.Duration(nil), times...)
	sort.Slice(sorted, func(a, b int) bool { return sorted[a] < sorted[b] })
	place := int(math.Ceil(share*float64(len(sorted)))) - 1
	if place < 0 {
		place = 0
	}
	return micros(sorted[place])
}

func sum(times []time.Duration) (total time.Duration) {
	for _, time := range times {
		total += time
	}
	return total
}

// The processor time of this process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
