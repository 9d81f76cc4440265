const stepMs = 100;

/**
 * Calls back after `ms` in which this process could run. On a busy machine the other side's answer may have arrived long before this process
 * gets to read it, and a timer would be called first. Returns a function that cancels.
 */
export function afterOwnTime(ms: number, action: () => void): () => void {
	const steps = Math.ceil(ms / stepMs);
	let left = steps;
	// A step that comes late counts as one, and what has arrived is read between two steps.
	const timer = setInterval(() => {
		left -= 1;
		if (left > 0) return;
		clearInterval(timer);
		action();
	}, ms / steps);
	return () => clearInterval(timer);
}
