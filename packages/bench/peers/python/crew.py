import threading


class Crew:
    """Threads that work at once; the first failure is everybody's."""

    def __init__(self):
        self.threads, self.failures = [], []

    def start(self, work, *args):
        thread = threading.Thread(target=self._run, args=(work, *args), daemon=True)
        self.threads.append(thread)
        thread.start()

    def _run(self, work, *args):
        try:
            work(*args)
        except BaseException as failure:
            self.failures.append(failure)

    def check(self):
        """Raises if one has failed until now."""
        if self.failures:
            raise self.failures[0]

    def join(self):
        """Returns when all are done, or raises as soon as one has failed."""
        for thread in self.threads:
            while thread.is_alive():
                self.check()
                thread.join(0.2)
        self.check()
