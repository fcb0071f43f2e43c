package main

import (
	"bufio"
	"os"
)

// Where a scenario waits for a word, so that somebody can read the server's counters meanwhile.
type stage func(reached string)

var input = bufio.NewReader(os.Stdin)

// Says where it stands and waits for a line, or for the end of the input.
func told(reached string) {
	say(result{reached: true})
	// Nobody there is as good as a word.
	_, _ = input.ReadString('\n')
}

func untold(string) {}
